#!/usr/bin/env bash
# Runs libFuzzer, under the address and undefined behaviour sanitizers, on the code that reads untrusted bytes: frames,
# sessions, messages of farms, manifests, plans, code images, .npy, .tc and .onnx files, pictures and sound, requests to a farm's page, farm.toml
# and suites of the gate. Starts from tests/fuzz/corpus, stores new inputs in build/fuzz/corpus, and stores a failing input
# in build/fuzz/TARGET-crash-*. Fix the failure and add the input to tests/fuzz/corpus/TARGET, which every test run replays.
#
#   scripts/fuzz_inputs.sh SECONDS [TARGET ...]      (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?"usage: scripts/fuzz_inputs.sh SECONDS [TARGET ...]"}
shift
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(frame dispatch farm manifest plan elf npy media tc onnx http toml)
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
if [[ ! -f build/fuzz/build.ninja ]]; then
  cmake -G Ninja -S . -B build/fuzz -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-19 \
    -DCMAKE_CXX_COMPILER=clang++-19 -DFERRY_SANITIZE=address,undefined -DFERRY_LIBFUZZER=ON >/dev/null
fi
ninja -C build/fuzz --quiet "${targets[@]/#/fuzz_}"
failed=0
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/corpus/$target"
  echo "fuzzing $target for $seconds s"
  "build/fuzz/tests/fuzz/inputs/libfuzzer/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/$target-" "build/fuzz/corpus/$target" \
    "tests/fuzz/corpus/$target" 2>"build/fuzz/$target.log" || failed=1
  grep -E 'stat::number_of_executed_units|ERROR|SUMMARY|runtime error' "build/fuzz/$target.log" || true
done
exit $failed
