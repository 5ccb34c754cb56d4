#!/usr/bin/env bash
# Builds the image of plain standard Python for functions out of the packages of this Debian or Ubuntu: no image registry
# is asked. The image has the whole standard library and tzdata, and neither shell nor set-uid file. As root; safe to repeat.
#
#   scripts/build-python-image.sh [--rebuild] [IMAGE]      IMAGE: knowhy-python:local
#
# DOCKER (docker) and DOCKER_HOST say which engine gets it. KNOWHY_IMAGE_CACHE (/var/cache/knowhy-python) keeps the packages.
set -Eeuo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
rebuild=
[ "${1:-}" != --rebuild ] || { rebuild=yes; shift; }
image=${1:-knowhy-python:local} docker=${DOCKER:-docker} cache=${KNOWHY_IMAGE_CACHE:-/var/cache/knowhy-python}
recipe=1   # raise it when what is built below changes

say() { printf '%s\n' "$*" >&2; }
die() { say "build-python-image: $*"; exit 1; }
apt() { apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o APT::Sandbox::User=root "$@"; }

[ "$(id -u)" = 0 ] || die "run it as root (it compiles the standard library in a chroot)"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || die "it needs the packages of Debian or Ubuntu; elsewhere pull a python image and set kb.python.image"
timeout 30 "$docker" version >/dev/null || die "the container engine does not answer"
have=$("$docker" image inspect "$image" --format '{{index .Config.Labels "knowhy.recipe"}}' 2>/dev/null || true)
if [ "$have" = "$recipe" ] && [ -z "$rebuild" ]; then say "image $image is up to date"; exit 0; fi

mkdir -p "$cache/debs"
exec 9>"$cache/lock"; flock -w 900 9 || die "another build holds $cache/lock"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
root=$work/root; mkdir "$root"

python_version() { apt-cache depends python3-minimal 2>/dev/null | sed -n 's/.*Depends: python\(3\.[0-9]*\)-minimal.*/\1/p' | head -1; }
version=$(python_version)
[ -n "$version" ] || { apt -qq update >&2; version=$(python_version); }
[ -n "$version" ] || die "the package lists name no python3-minimal"

# The interpreter and its library with what they need, less what only their maintainer scripts want.
packages=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
    "python$version-minimal" "libpython$version-stdlib" | sed -n 's/^\([a-z0-9][a-z0-9.+-]*\)$/\1/p' | sort -u \
  | grep -vE '^(dpkg|tar|perl.*|libperl.*|install-info|gcc-.*-base|mailcap|mime-support|debconf.*|cdebconf|readline-common|libgdbm.*|libacl1|libselinux1|libpcre2.*|libmd0|libzstd1|ucf|sensible-utils)$')
fetch() { (cd "$cache/debs" && rm -f ./*.deb && apt download -qq $packages tzdata >"$work/log" 2>&1); }
say "image $image: python $version out of $(echo $packages | wc -w) packages …"
fetch || { apt -qq update >&2; fetch; } || { tail -5 "$work/log" >&2; die "the packages could not be fetched"; }
for package in "$cache"/debs/*.deb; do dpkg-deb -x "$package" "$root"; done

for folder in lib lib64 bin sbin; do [ -e "$root/$folder" ] || [ ! -e "$root/usr/$folder" ] || ln -s "usr/$folder" "$root/$folder"; done
library=$root/usr/lib/python$version
rm -rf "$root"/usr/share/{doc,man,lintian,bug,binfmts,locale,i18n,applications,pixmaps} "$root"/usr/lib/*/gconv "$root"/{var,usr/sbin} \
  "$library"/{idlelib,turtledemo,test,ensurepip,pydoc_data,lib2to3/tests,unittest/test}
ln -sf "python$version" "$root/usr/bin/python3"; ln -sf python3 "$root/usr/bin/python"
mkdir -p "$root"/{proc,sys,dev,tmp,etc,run}; chmod 1777 "$root/tmp"
printf 'root:x:0:0::/:/nonexistent\nsandbox:x:65534:65534::/tmp:/nonexistent\n' >"$root/etc/passwd"
printf 'root:x:0:\nsandbox:x:65534:\n' >"$root/etc/group"
printf 'hosts: files\n' >"$root/etc/nsswitch.conf"
: >"$root/etc/hosts"; : >"$root/etc/resolv.conf"; : >"$root/etc/hostname"
printf 'Etc/UTC\n' >"$root/etc/timezone"; ln -sf /usr/share/zoneinfo/Etc/UTC "$root/etc/localtime"
# Byte code now: the root file system is read-only later, so it could never be cached.
chroot "$root" "/usr/bin/python$version" -I -m compileall -q --invalidation-mode unchecked-hash "/usr/lib/python$version" >/dev/null \
  || die "the standard library does not compile in its new root"
chroot "$root" "/usr/bin/python$version" -I -c 'import json,ssl,sqlite3,ctypes,zoneinfo,hashlib,lzma,bz2,decimal,asyncio,uuid; zoneinfo.ZoneInfo("Asia/Shanghai")' \
  || die "the standard library is not complete"
[ -z "$(find "$root" -xdev -perm /6000 -print -quit)" ] || die "a set-uid file got into the image"

tar -C "$root" --sort=name --numeric-owner --owner=0 --group=0 --mtime=@0 -cf - . | timeout 300 "$docker" import \
  --change 'USER 65534:65534' --change 'WORKDIR /tmp' --change 'ENTRYPOINT []' \
  --change 'ENV PATH=/usr/bin LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp' \
  --change 'CMD ["/usr/bin/python3","-I","-c","pass"]' --change "LABEL knowhy.recipe=$recipe" \
  --message 'plain standard Python for Knowhy, from distribution packages' - "$image" >/dev/null || die "docker import failed"
say "image $image is built"
