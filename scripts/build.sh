#!/usr/bin/env bash
# Builds everything: rpc_server for the four architectures in build/device/ARCH/{static,dynamic}/rpc_server, then the
# host's programs and tests in build/release, and the ferry without a compiler in build/client. Run scripts/setup.sh
# once before.
#
#   scripts/build.sh [--device | --host | --demo]       (default: everything)
#
# --demo builds only what scripts/demo.sh needs.
set -euo pipefail
cd "$(dirname "$0")/.."

# Lets a second checkout in another folder use the same cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# Runs a command and prints its output only if it fails.
quietly() {
  local log=build/last-step.log
  "$@" >"$log" 2>&1 || { grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | head -100; exit 1; }
}

# build_device ARCH TOOLCHAIN [TARGET]
build_device() {
  local arch=$1 toolchain=$2 dir=build/device/$1
  if [[ ! -f $dir/build.ninja ]]; then
    echo "configuring rpc_server for $arch"
    quietly cmake -G Ninja -S . -B "$dir" -DFERRY_DEVICE=ON -DCMAKE_BUILD_TYPE=Release \
      --toolchain "toolchains/$toolchain.cmake"
  fi
  echo "building rpc_server for $arch"
  quietly ninja -C "$dir" "${@:3}"
}

# build_host [TARGET ...]
build_host() {
  if [[ ! -f build/release/build.ninja ]]; then
    echo "configuring the host"
    quietly cmake --preset release
  fi
  echo "building the host"
  quietly ninja -C build/release "$@"
}

build_client() {
  if [[ ! -f build/client/build.ninja ]]; then
    echo "configuring the client without a compiler"
    quietly cmake -G Ninja -S . -B build/client -DFERRY_COMPILER=OFF -DCMAKE_BUILD_TYPE=Release
  fi
  echo "building the client without a compiler"
  quietly ninja -C build/client
}

mkdir -p build
case ${1:-} in
  "" | --device | --host) ;;
  --demo)
    build_device x86_64 x86_64-linux-gnu rpc_server_dynamic
    build_device armv7 armv7-linux-gnueabihf rpc_server_static
    build_device aarch64 aarch64-linux-gnu rpc_server_static
    build_device riscv64 riscv64-linux-gnu rpc_server_static
    build_host ferry demo ferry_instructions
    exit
    ;;
  *) echo "usage: scripts/build.sh [--device | --host | --demo]" >&2; exit 2 ;;
esac
if [[ ${1:-} != --host ]]; then
  build_device x86_64 x86_64-linux-gnu
  build_device armv7 armv7-linux-gnueabihf
  build_device aarch64 aarch64-linux-gnu
  build_device riscv64 riscv64-linux-gnu
fi
if [[ ${1:-} != --device ]]; then
  build_host
  build_client
fi
