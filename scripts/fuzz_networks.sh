#!/usr/bin/env bash
# Compares random networks in ferry with ONNX Runtime:
#
#   scripts/fuzz_networks.sh --minutes N | --cases N [--seed S] [--save FOLDER] [--refusals] [--at-least N]
#
# A failure is printed, made as small as possible, and saved in build/fuzz_networks, or FOLDER. --refusals prints what was
# refused. The last line counts the networks and the failures.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release > /dev/null
cmake --build --preset release --target run_networks > /dev/null
if [[ ! -f build/device/x86_64/build.ninja ]]; then
  cmake -G Ninja -S . -B build/device/x86_64 -DFERRY_DEVICE=ON -DCMAKE_BUILD_TYPE=Release \
    --toolchain toolchains/x86_64-linux-gnu.cmake > /dev/null
fi
cmake --build build/device/x86_64 --target rpc_server_static > /dev/null
PYTHONPATH=tests/e2e/networks exec build/venv/bin/python tests/fuzz/networks/fuzz_networks.py \
  build/release/tests/e2e/networks/run_networks "$@"
