#!/usr/bin/env bash
# Downloads Debian's headers of Python 3.13 to build/python-stable, with which the extension module is built for the
# stable ABI, for Python 3.12 and newer; those of this machine's Python 3.11 cannot. Nothing is installed. Returns
# immediately if they exist.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/private_apt.sh

[[ -f build/python-stable/include/python3.13/Python.h ]] && exit 0
echo "fetching the headers of Python 3.13"
work=$PWD/build/python-stable.tmp
rm -rf "$work" build/python-stable
mkdir -p "$work"
private_apt "$work/apt" "$(dpkg --print-architecture)" trixie
export APT_CONFIG=$work/apt/apt.conf
apt-get -qq update
(cd "$work" && apt-get -qq download libpython3.13-dev)
dpkg -x "$work"/*.deb "$work/all"
mkdir -p build/python-stable
mv "$work/all/usr/include" build/python-stable
rm -rf "$work"
