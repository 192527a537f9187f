#!/usr/bin/env bash
# Downloads Debian's headers of Python 3.11 and 3.13 to build/python-headers/ARCH. With those of 3.13 the extension module
# is built for the stable ABI, for Python 3.12 and newer, which this machine's cannot; the modules of the wheel ferry-client
# are built with both. Nothing is installed. Returns immediately if they exist.
#
#   scripts/python_headers.sh [x86_64] [aarch64]      (default: x86_64)
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/private_apt.sh

fetch() {
  local arch=$1 debian work=$PWD/build/python-headers/$1.tmp
  case $arch in
    x86_64) debian=amd64 ;;
    aarch64) debian=arm64 ;;
    *) echo "expected x86_64 or aarch64, got '$arch'" >&2; exit 2 ;;
  esac
  echo "fetching the headers of Python for $arch"
  rm -rf "$work" "build/python-headers/$arch"
  for python in 3.11/bookworm 3.13/trixie; do
    rm -rf "$work/apt"
    mkdir -p "$work/all"
    private_apt "$work/apt" "$debian" "${python#*/}"
    APT_CONFIG=$work/apt/apt.conf apt-get -qq update
    (cd "$work" && APT_CONFIG=$work/apt/apt.conf apt-get -qq download "libpython${python%/*}-dev")
    dpkg -x "$work"/*.deb "$work/all"
    rm "$work"/*.deb
  done
  mkdir "build/python-headers/$arch"
  mv "$work/all/usr/include" "build/python-headers/$arch"
  rm -rf "$work"
}

for arch in "${@:-x86_64}"; do
  [[ -f build/python-headers/$arch/include/python3.13/Python.h ]] || fetch "$arch"
done
