#!/usr/bin/env bash
# Measures the cost of calls, transfers and compilation, the speed of kernels or networks compared with other libraries,
# or a farm of boards on this machine, and prints a table. Every ratio comes from one run in which both sides take turns.
# --static judges code for boards without one, by the instructions that an emulator executes.
#
#   scripts/bench.sh [--json FILE]
#   scripts/bench.sh --kernels [--only PART_OF_A_NAME] [--rounds N] [--tune BUDGET] [--json FILE]
#                                                                                     (installs the other libraries)
#   scripts/bench.sh --networks [--only NAME]... [--threads N]... [--rounds N] [--json FILE]                  (likewise)
#   scripts/bench.sh --static [--only PART_OF_A_NAME] [--target NAME]... [--flavour fixed|open]... [--network NET.onnx]...
#                    [--peers] [--show NUMBER] [--json FILE]                           (explained in bench/boards/static.py)
#   scripts/bench.sh --tuning [--only PART_OF_A_NAME] [--budget TIME] [--threads N] [--open] [--json FILE]
#                                                                                     (explained in bench/tune/quality.py)
#   scripts/bench.sh --metaschedule [--only PART_OF_A_NAME] [--seconds N] [--trials N] [--budget TIME] [--rounds N] [--keep]
#                    [--json FILE]              (installs TVM; explained in bench/tune/against_metaschedule.py)
#   scripts/bench.sh --farm [--only cycles|overhead|leases|query|crowd]... [--seconds N] [--json FILE]
#   scripts/bench.sh --farm-decisions                     (who gets which board, in processor time)
#   scripts/bench.sh --farm-store [SECONDS]              (the databases of farms alone; for each figure)
set -euo pipefail
cd "$(dirname "$0")/.."

what=calls
if [[ ${1:-} == --kernels || ${1:-} == --networks ]]; then
  what=${1#--}
  shift
  scripts/bench_setup.sh >&2
  # Detects the libraries that are now installed.
  [[ ! -f build/release/build.ninja ]] || cmake --preset release >/dev/null
  scripts/build.sh --host >&2
elif [[ ${1:-} == --farm || ${1:-} == --farm-store || ${1:-} == --farm-decisions ]]; then
  what=${1#--}
  shift
  [[ $what != farm ]] || scripts/build.sh --device >&2
  scripts/build.sh --host >&2
elif [[ ${1:-} == --tuning ]]; then
  what=tuning
  shift
  scripts/build.sh --device >&2
  scripts/build.sh --host >&2
elif [[ ${1:-} == --metaschedule ]]; then
  what=metaschedule
  shift
  scripts/bench_setup.sh tuning >&2
  scripts/build.sh --device >&2
  scripts/build.sh --host >&2
elif [[ ${1:-} == --static ]]; then
  what=static
  shift
  # Without them, their rows say so.
  [[ " $* " != *" --peers "* ]] || scripts/board_peers.sh >&2 || true
  # Weights of networks are packed by an rpc_server of this machine.
  [[ " $* " != *" --network "* ]] || scripts/build.sh --device >&2
  scripts/build.sh --host >&2
else
  scripts/build.sh >&2
fi
echo "$(uname -m), $(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), Linux $(uname -r), $(date +%F)"
echo
if [[ $what == farm-store ]]; then exec build/release/bench/farm/ferry_store_bench "$@"; fi
if [[ $what == farm-decisions ]]; then exec build/release/bench/farm/ferry_decision_bench; fi
if [[ $what == farm ]]; then
  exec build/release/bench/farm/ferry_farm_bench build/release/bin/ferry "build/device/$(uname -m)/dynamic/rpc_server" \
    "$PWD/build/release/bench/farm/libferry_slow_fsync.so" "$@"
fi
if [[ $what == tuning ]]; then exec bench/tune/quality.py "$@"; fi
if [[ $what == metaschedule ]]; then exec build/bench/tvm/bin/python bench/tune/against_metaschedule.py "$@"; fi
if [[ $what == static ]]; then exec bench/boards/static.py "$@"; fi
if [[ $what == kernels ]]; then exec build/release/bench/kernels/ferry_kernel_bench "$@"; fi
if [[ $what == networks ]]; then
  python=build/bench/networks/bin/python
  if [[ ! -f build/bench/models/encoder.y.npy || bench/networks/export.py -nt build/bench/models/encoder.y.npy ]]; then
    "$python" bench/networks/export.py build/bench/models >&2
  fi
  exec "$python" bench/networks/compare.py build/bench/models "$@"
fi
exec build/release/bench/rpc/ferry_rpc_bench build/release/bin/ferry build/device/"$(uname -m)"/dynamic/rpc_server "$@"
