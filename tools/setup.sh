# SPDX-License-Identifier: Apache-2.0
# Sourced by tools/quickstart and tools/test: packages and a release build, on a fresh machine or an old one.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build

say() { printf '\n== %s\n' "$*"; }

need_root() {
  [ "$(id -u)" = 0 ] && return
  echo "run it with sudo: it installs packages and makes network namespaces" >&2
  exit 2
}

# meson.build compiles for x86-64-v3 with AES; elsewhere the programs would die of an illegal instruction.
need_cpu() {
  local flag
  for flag in avx2 aes; do
    grep -qw "$flag" "${1:-/proc/cpuinfo}" && continue
    echo "heddle needs a CPU with AVX2 and AES (x86-64-v3); /proc/cpuinfo does not name $flag" >&2
    exit 2
  done
}

# Whoever called sudo builds, so that the build directory is theirs.
as_builder() {
  if [ -n "${SUDO_USER:-}" ] && [ "$SUDO_USER" != root ]; then
    runuser -u "$SUDO_USER" -- "$@"
  else
    "$@"
  fi
}

packages_missing() {
  local package
  sed 's/#.*//' "$root/tools/packages" | xargs -n1 | while read -r package; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

install_packages() {
  local missing
  need_cpu
  missing=$(packages_missing)
  [ -n "$missing" ] || return 0
  say "installing $(wc -w <<<"$missing") packages"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q update
  # shellcheck disable=SC2086
  apt-get -q install -y --no-install-recommends $missing
}

# build_release TARGET...; none = all
build_release() {
  need_cpu
  say "building (release) in $build"
  cd "$root"
  # A directory that another user or root made can't be written by this one.
  if [ -d "$build" ] && ! as_builder test -w "$build"; then chown -R "$SUDO_USER:" "$build"; fi
  # All at once: more sources compiled as one than where single ones change.
  [ -f "$build/build.ninja" ] || as_builder /usr/bin/meson setup -Dunity_size=12 "$build" "$root" | grep -v '^Configuring '
  as_builder ninja -C "$build" "$@"
}
