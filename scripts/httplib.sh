#!/usr/bin/env bash
# Builds the static cpp-httplib that packages contain, from Debian's source package, into build/httplib, unless it is
# already there. Debian's binary package has only the shared library, which asks for a newer libstdc++ than packages do.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/source_package.sh
out=$PWD/build/httplib
flags="-std=c++17 -Os -fPIC -ffunction-sections -fdata-sections -fvisibility=hidden"
recipe="1 $(dpkg-query -W -f='${Version}' libcpp-httplib-dev) $flags"  # increment the number to force a rebuild everywhere

[[ $(cat "$out/recipe" 2>/dev/null) != "$recipe" ]] || exit 0
mkdir -p build
work=$(mktemp -d build/httplib.XXXXXX)
work=$PWD/$work
trap 'rm -rf "$work"' EXIT

build() {
  fetch_source cpp-httplib "$work"
  cd "$work"/src/cpp-httplib-*/
  python3 "$PWD/split.py"
  # The program is compiled with the header that is installed, so both must be of one version.
  cmp out/httplib.h /usr/include/httplib.h
  # shellcheck disable=SC2046,SC2086
  g++ $flags $(pkg-config --cflags cpp-httplib) -I out -ffile-prefix-map="$work"=. -c out/httplib.cc -o "$work/httplib.o"
  mkdir "$work/new"
  ar rcsD "$work/new/libcpp-httplib.a" "$work/httplib.o"
  cp LICENSE "$work/new"
  echo "$recipe" >"$work/new/recipe"
}

echo "cpp-httplib: building"
# Not in a condition, where errexit has no effect.
set +e
(set -e && build) >"$work/log" 2>&1
failed=$?
set -e
[[ $failed == 0 ]] || { tail -40 "$work/log"; exit 1; }
rm -rf "$out"
mv "$work/new" "$out"
