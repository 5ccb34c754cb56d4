#!/usr/bin/env bash
# Makes this Debian or Ubuntu, or a WSL distribution of it, ready for Python functions: Docker Engine, the image of plain
# Python, the seccomp profiles. As root; safe to repeat. Windows: Setup-PythonSandbox.ps1 runs it in the distribution.
#
#   scripts/setup-python-sandbox.sh [--from docker|distribution] [--user NAME] [--image NAME]
#
#   --from docker        Docker's official packages (default; KNOWHY_DOCKER_APT names a mirror of https://download.docker.com)
#   --from distribution  the distribution's own docker.io
#   --user NAME          let this user use the engine (group docker: as good as root on this machine)
#   --image NAME         build under another name than knowhy-python:local
#
# An engine that is there already stays as it is.
set -Eeuo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
here=$(cd "$(dirname "$0")" && pwd)
from=docker user= image=knowhy-python:local
source_url=${KNOWHY_DOCKER_APT:-https://download.docker.com}
key_fingerprint=9DC858229FC7DD38854AE2D88D81803C0EBFCD88

say() { printf '%s\n' "$*"; }
die() { printf 'setup-python-sandbox: %s\n' "$*" >&2; exit 1; }
apt() { apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"; }

while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) sed -n '2,/^set /{s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    --from | --user | --image) [ $# -ge 2 ] && [ -n "$2" ] || die "$1 needs a value; see --help" ;;
    *) die "unknown argument $1; see --help" ;;
  esac
  case $1 in --from) from=$2 ;; --user) user=$2 ;; --image) image=$2 ;; esac
  shift 2
done
case $from in docker | distribution) ;; *) die "--from is docker or distribution" ;; esac
[ "$(id -u)" = 0 ] || die "run it as root"
[ -z "$user" ] || id -u "$user" >/dev/null 2>&1 || die "there is no user $user"
[ -f /etc/debian_version ] || die "it knows Debian and Ubuntu; elsewhere install Docker Engine by its own guide, pull a python image and set kb.python.image"

answers() { timeout 10 docker version >/dev/null 2>&1; }

install_from_docker() {
  . /etc/os-release
  local os=debian code=${VERSION_CODENAME:-}
  # Relatives of Ubuntu name its release.
  if [ "$ID" = ubuntu ] || [ -n "${UBUNTU_CODENAME:-}" ]; then os=ubuntu code=${UBUNTU_CODENAME:-$code}; fi
  [ -n "$code" ] || die "this release has no code name in /etc/os-release, so Docker has no packages for it: use --from distribution"
  apt update; apt install -y --no-install-recommends ca-certificates curl gnupg
  install -m 0755 -d /etc/apt/keyrings
  curl -fsSL --retry 3 "$source_url/linux/$os/gpg" -o /etc/apt/keyrings/docker.asc || die "$source_url cannot be reached: set KNOWHY_DOCKER_APT to a mirror, or use --from distribution"
  [[ $(gpg --show-keys --with-colons /etc/apt/keyrings/docker.asc) =~ fpr:+$key_fingerprint: ]] || { rm -f /etc/apt/keyrings/docker.asc; die "the key at $source_url is not Docker's"; }
  chmod a+r /etc/apt/keyrings/docker.asc
  echo "deb [arch=$(dpkg --print-architecture) signed-by=/etc/apt/keyrings/docker.asc] $source_url/linux/$os $code stable" >/etc/apt/sources.list.d/docker.list
  apt update; apt install -y docker-ce docker-ce-cli containerd.io
}

start_engine() {
  if [ "$(cat /proc/1/comm)" = systemd ]; then systemctl enable --now docker; else service docker start >/dev/null || true; fi
  for _ in $(seq 60); do answers && return; sleep 0.5; done
  die "the engine was installed but does not answer; see journalctl -u docker or /var/log/docker.log"
}

# Without systemd nothing starts the engine when the distribution starts.
start_with_wsl() {
  [ -n "${WSL_DISTRO_NAME:-}" ] || grep -qi microsoft /proc/version || return 0
  [ "$(cat /proc/1/comm)" != systemd ] || return 0
  if grep -qs '^\[boot\]' /etc/wsl.conf; then
    grep -qsE '^(command|systemd)[[:space:]]*=' /etc/wsl.conf || say "note: add  command = service docker start  below [boot] in /etc/wsl.conf"
  else
    printf '[boot]\ncommand = service docker start\n' >>/etc/wsl.conf
  fi
}

if command -v docker >/dev/null && command -v dockerd >/dev/null || answers; then
  say "Docker is installed"
elif [ "$from" = docker ]; then
  say "Docker Engine from $source_url …"; install_from_docker
else
  say "Docker Engine from the distribution …"; apt update; apt install -y --no-install-recommends docker.io
fi
answers || start_engine
start_with_wsl
say "engine: $(docker version --format '{{.Server.Version}}')"

# The CLI reads the profile here when the server calls it through WSL.
install -m 0755 -d /etc/knowhy
for profile in seccomp.json seccomp-network.json; do
  install -m 0644 "$here/../server/functions/sandbox/$profile" "/etc/knowhy/$profile"
done
say "profiles: /etc/knowhy"

bash "$here/build-python-image.sh" "$image"
if [ -n "$user" ]; then
  usermod -aG docker "$user"
  say "$user may use the engine after the next login"
fi
say "ready: check it with scripts/test-python-sandbox.sh"
