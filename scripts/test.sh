#!/usr/bin/env bash
# Sets up, builds and tests everything; the last line states how many tests passed and failed.
#
#   scripts/test.sh [--long] [ctest arguments, such as -R NAME]
#
# --long adds the tests labelled long, and runs all tests once more under the address and undefined behaviour
# sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."

long=0
if [[ ${1:-} == --long ]]; then
  long=1
  shift
fi
scripts/setup.sh
[[ $long == 0 ]] || scripts/board_kernels.sh aarch64 armv7 riscv64 x86_64
scripts/build.sh

export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
passed=0
failed=0

# Runs the tests of one preset and adds the counts in ctest's summary to the two counters.
run_tests() {
  local preset=$1 log=build/test-$1.log
  shift
  echo "testing ($preset)"
  # In slots, of which a test takes two if it computes, and one if it mostly waits (ferry_test_slots).
  ctest --preset "$preset" -j"$((4 * $(nproc)))" --no-tests=error "$@" 2>&1 | tee "$log" || true
  local summary
  summary=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log") || {
    echo "expected a summary from ctest, got none" >&2
    failed=$((failed + 1))
    return
  }
  read -r bad all < <(sed -E 's/.*passed, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/' <<<"$summary")
  failed=$((failed + bad))
  passed=$((passed + all - bad))
}

if [[ $long == 1 ]]; then
  run_tests release "$@"
  [[ -f build/asan/build.ninja ]] || cmake --preset asan >/dev/null
  ninja -C build/asan --quiet
  run_tests asan "$@"
else
  run_tests release --label-exclude '^long$' "$@"
fi
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
