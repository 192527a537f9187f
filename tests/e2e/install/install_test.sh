#!/usr/bin/env bash
# install_test.sh BUILD_FOLDER CMAKE COMPILER: builds and runs an outside project against the installed files.
set -euo pipefail
build=$1 cmake=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
[[ -f $work/prefix/libexec/ferry/libferry_instructions.so ]] || { echo "expected the plugin for qemu"; exit 1; }
cp -r "$here/outside" "$work/outside"
# The same programs and headers as in the last run need not be compiled again.
launcher=$(command -v ccache || true)
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
"$cmake" -S "$work/outside" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
"$cmake" --build "$work/build" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }

# Only installed files may be found.
cd "$work"
unset FERRY_REMOTE FERRY_RPC_SERVER
"$work/build/outside"
"$work/build/outside_program"
"$work/prefix/bin/ferry" run -e 'def twice(float32(N) A) -> (B) { B(i) = 2 * A(i) }' --arg A=f32[3]:iota | head -n 2 >got
printf 'B = f32[3]\n[0. 2. 4.]\n' | diff - got

# A program that only runs modules links libferry_client, which needs no LLVM.
"$work/prefix/bin/ferry" compile -e 'def twice(float32(N) A) -> (B) { B(i) = 2 * A(i) }' -o twice.ferry >/dev/null
"$work/build/outside_client" twice.ferry
readelf -d "$work/build/outside_client" | grep -q 'NEEDED.*libferry_client' || { echo "expected libferry_client"; exit 1; }
if ldd "$work/build/outside_client" | grep -E 'LLVM|lld|libferry\.so'; then
  echo "expected libferry_client alone, without LLVM"
  exit 1
fi

# Every installed header includes only installed headers, and none of LLVM, Asio, cereal or libsodium.
cd "$work/prefix/include"
if grep -rnE '#include [<"](llvm|lld|asio|cereal|sodium)' .; then
  echo "expected no header of LLVM, Asio, cereal or libsodium"
  exit 1
fi
find ferry -name '*.h' -printf '#include <%p>\n' | LC_ALL=C sort >"$work/all.cpp"
$launcher "$compiler" -std=c++20 -I. -c "$work/all.cpp" -o "$work/all.o"
