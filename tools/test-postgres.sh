#!/usr/bin/env bash
# A real PostgreSQL 17 with pgvector on a Debian 12 machine, whose own PostgreSQL 15 has no pgvector.
# Debian 13's packages (same mirror, suite trixie) are unpacked into a folder and run there by chroot.
#
#   tools/test-postgres.sh [start|stop|url]     as root; safe to repeat; nothing outside $KNOWHY_TEST_PG_HOME changes
#
# Prints the connection URL last. Data is thrown away on every fresh start (fsync off): for tests only.
# KNOWHY_TEST_PG_HOME (default /opt/knowhy-postgres), KNOWHY_TEST_PG_PORT (default 54317), both also the identity of an instance.
set -euo pipefail
home=${KNOWHY_TEST_PG_HOME:-/opt/knowhy-postgres} port=${KNOWHY_TEST_PG_PORT:-54317}
root=$home/root bin=/usr/lib/postgresql/17/bin uid=70
url="postgresql://postgres@127.0.0.1:$port/postgres"
inside() { env -i PATH=$bin:/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/var/lib/postgresql TZ=UTC /usr/sbin/chroot --userspec=$uid:$uid "$root" "$@"; }

unpack() {
  [ -x "$root$bin/postgres" ] && [ -f "$root/usr/share/postgresql/17/extension/vector.control" ] && return
  local apt; apt=$(mktemp -d)
  mkdir -p "$apt"/{parts,state/lists/partial,cache/archives/partial}; : >"$apt/status"
  # the configured Debian mirror, another suite
  awk 'BEGIN{RS="";ORS="\n\n"} /Suites:[^\n]*bookworm[^\n-]*bookworm-updates|Suites: bookworm( |\n)/{print; exit}' \
    /etc/apt/sources.list.d/debian.sources | sed 's/^Suites:.*/Suites: trixie/' >"$apt/parts/trixie.sources"
  local o=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts" -o Dir::State="$apt/state"
           -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root)
  apt-get "${o[@]}" -qq update
  apt-get "${o[@]}" -qq -y --no-install-recommends --download-only install postgresql-17 postgresql-17-pgvector dash libc-bin tzdata >/dev/null
  rm -rf "$root"; mkdir -p "$root/usr"/{bin,sbin,lib,lib64}
  for d in bin sbin lib lib64; do ln -s "usr/$d" "$root/$d"; done
  for d in "$apt"/cache/archives/*.deb; do dpkg -x "$d" "$root"; done
  rm -rf "$apt"
  mkdir -p "$root"/{dev,proc,tmp,etc,var/lib/postgresql,run/postgresql}
  echo "postgres:x:$uid:$uid::/var/lib/postgresql:/bin/sh" >"$root/etc/passwd"
  echo "postgres:x:$uid:" >"$root/etc/group"
  chroot "$root" /usr/sbin/ldconfig || true
  chmod 1777 "$root/tmp"; chown -R $uid:$uid "$root/var/lib/postgresql" "$root/run/postgresql"
}
running() { # a stale pid file may name another process or a zombie: look at what the process runs
  local pid; pid=$(head -1 "$root/var/lib/postgresql/data/postmaster.pid" 2>/dev/null) || return 1
  case "$(readlink "/proc/$pid/exe" 2>/dev/null)" in */postgresql/17/bin/postgres*) true ;; *) false ;; esac
}
start() {
  mkdir -p "$home"; exec 9>"$home/lock"; flock 9   # two starts at once: the second waits and finds it running
  unpack
  [ -c "$root/dev/null" ] || { mknod -m 666 "$root/dev/null" c 1 3; mknod -m 666 "$root/dev/urandom" c 1 9; mknod -m 666 "$root/dev/random" c 1 8; mknod -m 666 "$root/dev/zero" c 1 5; }
  if ! running; then
    rm -rf "$root/var/lib/postgresql/data"
    inside initdb -D /var/lib/postgresql/data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
    inside pg_ctl -D /var/lib/postgresql/data -w -t 60 -l /var/lib/postgresql/log \
      -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c dynamic_shared_memory_type=mmap -c shared_buffers=256MB -c maintenance_work_mem=512MB -c max_connections=200" start >/dev/null 9>&- || { tail -20 "$root/var/lib/postgresql/log" >&2; exit 1; }
  fi
  echo "$url"
}
case ${1:-start} in
  start) start ;;
  stop) if running; then inside pg_ctl -D /var/lib/postgresql/data -m immediate stop >/dev/null; fi ;;
  url) echo "$url" ;;
  *) echo "usage: tools/test-postgres.sh [start|stop|url]" >&2; exit 2 ;;
esac
