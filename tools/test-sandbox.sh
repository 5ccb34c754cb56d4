#!/usr/bin/env bash
# A container engine for the tests of the Python sandbox on a Debian machine: Debian's docker.io, run with its own socket,
# data and pid file, and the image of scripts/build-python-image.sh. No other engine of the machine is touched.
#
#   tools/test-sandbox.sh [start|stop]     as root; safe to repeat, at once, and after a kill -9 of the engine
#
# `start` prints the DOCKER_HOST last. Who uses the engine holds a shared flock on $KNOWHY_TEST_SANDBOX_HOME/users: `stop`
# leaves the engine to the others. KNOWHY_TEST_SANDBOX_HOME (default /opt/knowhy-sandbox) is the identity of an engine.
set -Eeuo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
here=$(cd "$(dirname "$0")" && pwd)
home=${KNOWHY_TEST_SANDBOX_HOME:-/opt/knowhy-sandbox}
run=$home/run socket=$home/run/docker.sock pid_file=$home/run/dockerd.pid
export DOCKER_HOST=unix://$socket

say() { printf '%s\n' "$*" >&2; }
die() { say "test-sandbox: $*"; exit 1; }
is_up() { [ -S "$socket" ] && timeout -k 1 5 docker version >/dev/null 2>&1; }
# A zombie has no exe; kill -0 would take it for alive where nobody reaps.
is_dockerd() { case "$(readlink "/proc/${1:-none}/exe" 2>/dev/null)" in */dockerd*) true ;; *) false ;; esac; }
my_pid() { cat "$pid_file" 2>/dev/null || true; }

install_engine() {
  command -v dockerd >/dev/null && command -v containerd >/dev/null && command -v runc >/dev/null && command -v docker >/dev/null && return
  local policy=/usr/sbin/policy-rc.d made= apt=(apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  "${apt[@]}" update >&2
  # The package would start an engine of its own.
  [ -e $policy ] || { trap "rm -f $policy" EXIT; printf '#!/bin/sh\nexit 101\n' >$policy; chmod 755 $policy; made=yes; }
  "${apt[@]}" -y --no-install-recommends install docker.io containerd runc >"$run/apt.log" 2>&1 9>&- || { tail -20 "$run/apt.log" >&2; die "docker.io could not be installed"; }
  [ -z "$made" ] || { rm -f $policy; trap - EXIT; }
}

clear_remains() {
  local containerd; containerd=$(cat "$run/docker/containerd/containerd.pid" 2>/dev/null || true)
  # A daemon that was killed leaves its containerd; a new one would wait for it and give up.
  if [ -n "$containerd" ]; then
    case "$(tr '\0' ' ' <"/proc/$containerd/cmdline" 2>/dev/null)" in *"$run/docker/containerd/"*) kill -KILL "$containerd" || true; sleep 0.3 ;; esac
  fi
  rm -f "$pid_file" "$socket" "$run"/docker/containerd/containerd.pid "$run"/docker/containerd/*.sock*
}

launch() { # $1: storage driver
  clear_remains
  # Functions have no network, so the engine needs neither bridge nor NAT. The lock's descriptor must not outlive this script.
  setsid nohup dockerd --host="$DOCKER_HOST" --pidfile="$pid_file" --exec-root="$run/docker" --data-root="$home/data" \
    --storage-driver="$1" --exec-opt native.cgroupdriver=cgroupfs --bridge=none --iptables=false --ip6tables=false \
    --ip-forward=false --ip-masq=false --userland-proxy=false --log-driver=none --log-level=warn \
    >"$run/dockerd.log" 2>&1 </dev/null 9>&- &
  local child=$! end=$((SECONDS + 60))
  while [ $SECONDS -lt $end ]; do
    is_up && return
    is_dockerd $child || [ $((end - SECONDS)) -gt 57 ] || return 1
    sleep 0.2
  done
  kill -KILL $child 2>/dev/null || true
  return 1
}

start() {
  mkdir -p "$run"; exec 9>"$home/lock"; flock -w 900 9 || die "another start holds $home/lock"
  install_engine
  if ! is_up; then
    grep -qE '^[^ ]+ /sys/fs/cgroup[^ ]* cgroup2? ' /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
    if is_dockerd "$(my_pid)"; then kill -KILL "$(my_pid)" || true; sleep 0.5; fi
    launch overlay2 || launch vfs || { tail -20 "$run/dockerd.log" >&2; die "the engine does not start"; }
  fi
  KNOWHY_IMAGE_CACHE=$home/image bash "$here/../scripts/build-python-image.sh" 9>&-
  echo "$DOCKER_HOST"
}

stop() {
  [ -d "$home" ] || return 0
  exec 9>"$home/lock"; flock -w 900 9
  exec 8>"$home/users"; flock -n 8 || { say "the engine is in use by another run"; return 0; }
  local pid; pid=$(my_pid)
  is_dockerd "$pid" || return 0
  kill -TERM "$pid"
  for _ in $(seq 100); do is_dockerd "$pid" || return 0; sleep 0.1; done
  kill -KILL "$pid" || true
}

[ "$(id -u)" = 0 ] || die "run it as root"
case ${1:-start} in
  start) start ;;
  stop) stop ;;
  *) echo "usage: tools/test-sandbox.sh [start|stop]" >&2; exit 2 ;;
esac
