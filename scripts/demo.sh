#!/usr/bin/env bash
# Sets up and builds ferry and starts four servers (one on this machine's own CPU, three emulated). On each it compiles,
# transfers, runs, checks and times four kernels, and runs a network and checks each of its kernels. Exits with a
# non-zero status if a result is wrong.
#
#   scripts/demo.sh
#   scripts/demo.sh --farm [--keep]     shows a farm of two emulated boards in place of that (demo_farm.sh)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --demo
scripts/build.sh --demo
if [[ ${1:-} == --farm ]]; then exec scripts/demo_farm.sh "${@:2}"; fi

work=$(mktemp -d)
servers=()
stop() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap stop EXIT

# start NAME FLAVOUR [EMULATOR ...]: starts a server on a free port; its first line of output goes to $work/NAME.
start() {
  local name=$1 flavour=$2
  shift 2
  "$@" "build/device/$name/$flavour/rpc_server" --port 0 --quiet --key-file "$work/demo.key" >"$work/$name" &
  servers+=($!)
}

# Waits until a server listens and prints its address.
address() {
  local line
  for _ in $(seq 100); do
    line=$(head -n 1 "$work/$1")
    if [[ $line == "rpc_server listening on "* ]]; then
      echo "${line#rpc_server listening on }"
      return
    fi
    sleep 0.05
  done
  echo "the $1 server did not start" >&2
  return 1
}

# Created here and shared only by the four servers and their client, so that nobody else on this machine can connect.
build/release/bin/ferry keygen "$work/demo.key" >/dev/null
export FERRY_KEY_FILE=$work/demo.key

# The static flavour needs no libraries of its architecture on this machine.
start x86_64 dynamic
start armv7 static qemu-arm -cpu cortex-a7
start aarch64 static qemu-aarch64 -cpu cortex-a72
start riscv64 static qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0

arguments=("x86_64=$(address x86_64)")
for name in armv7 aarch64 riscv64; do arguments+=("$name=$(address "$name"),emulated"); done
build/release/bin/demo examples/kernels "${arguments[@]}"

build/venv/bin/python examples/networks/models.py squeezenet "$work/squeezenet.onnx" 64
for name in x86_64 armv7 aarch64 riscv64; do
  build/release/bin/ferry run "$work/squeezenet.onnx" --arg 'x=f32[1,3,64,64]' --check --quiet -r "$(address "$name")"
  echo "$name: SqueezeNet, for images of 64 x 64 pixels: every kernel agrees with its definition."
done
