#!/usr/bin/env bash
# last_release_long_test.sh CLI_E2E_TEST ARCH: tests of the command line with the server of the last release, whose commit
# packaging/last_release names, in place of this version's; and the client of that release, without a compiler, with this
# version's server. Both are built once for each commit, in build/last_release.
set -euo pipefail
tests=$1 arch=$2
commit=$(grep -xE '[0-9a-f]{40}' packaging/last_release)
folder=$PWD/build/last_release/$commit
own=$PWD/build/device/$arch/dynamic/rpc_server

git cat-file -e "$commit^{commit}" 2>/dev/null || { echo "skipped: the commit $commit is not in this repository"; exit 77; }

# Configures and builds a target of the old sources, in the folders that scripts/build.sh takes, so that ccache knows what has
# not changed since; and keeps the program.
build() {
  local name=$1 dir=$2 target=$3
  { cmake -G Ninja -S "$folder/source" -B "$folder/source/build/$dir" -DCMAKE_BUILD_TYPE=Release "${@:4}" &&
    ninja -C "$folder/source/build/$dir" "$target"; } >"$folder/log" 2>&1 || { tail -40 "$folder/log"; exit 1; }
  mv "$folder/source/build/$dir/$target" "$folder/$name"
}

if [[ ! -x $folder/rpc_server || ! -x $folder/ferry ]]; then
  echo "building the server and the client of $commit"
  rm -rf build/last_release
  mkdir -p "$folder/source"
  git archive "$commit" | tar -x -C "$folder/source"
  mkdir "$folder/source/build"
  cp -r build/libsodium "$folder/source/build"
  export CCACHE_BASEDIR=$folder/source CCACHE_NOHASHDIR=1
  build rpc_server "device/$arch" dynamic/rpc_server -DFERRY_DEVICE=ON \
    --toolchain "$folder/source/toolchains/$arch-linux-gnu.cmake"
  build ferry client bin/ferry -DFERRY_COMPILER=OFF
  rm -rf "$folder/source"
fi

# Tests of sizes and times say nothing about another version.
passed() {
  "$tests" --no-version=true --test-case-exclude='*is small*,*stays under*' "$@" >"$folder/log" 2>&1 || { tail -60 "$folder/log"; echo "failed: $*"; exit 1; }
  # All of the filter's tests were run, and there were some.
  grep -E 'test cases: +[1-9]' "$folder/log"
}

echo "this version's client with the server of the last release"
export FERRY_RPC_SERVER=$folder/rpc_server
files=$(printf '*/%s_test.cpp,' bench_check check client commands crash_line exit_code json lost_connection network output \
  run shared_device)
passed --source-file="${files%,}"
echo "the client of the last release with this version's server"
export FERRY_RPC_SERVER=$own FERRY_CLIENT_PROGRAM=$folder/ferry
passed --source-file='*/client_test.cpp'
