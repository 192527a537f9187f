#!/usr/bin/env bash
# Tests that the bundle made by scripts/gpu_bundle.sh is self-contained: the OpenCL programs run here from another
# folder, the CUDA programs compile. A wrong program is detected. With a pattern only the examples that match are in it:
# gpu_examples_test runs all of them.
#
#   gpu_bundle_test.sh [PATTERN LEAST_MODULES]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "gpu_bundle_test: $*" >&2; exit 1; }

export FERRY_BUNDLE_EXAMPLES=${1:-*}
least=${2:-20}
# For one architecture each, which takes half the time of the bundle's own two.
scripts/gpu_bundle.sh "$folder/cuda" "nvrtc=cuda -arch=sm_80 -compiler=nvrtc" "llvm=cuda -arch=sm_90 -compiler=llvm"
for compiler in nvrtc llvm; do
  [[ $(ls "$folder/cuda/modules/$compiler" | wc -l) -ge $least ]] || fail "expected $least modules for CUDA or more"
done

scripts/gpu_bundle.sh "$folder/pocl" pocl=opencl
mkdir "$folder/elsewhere"
mv "$folder/pocl" "$folder/elsewhere/bundle"
"$folder/elsewhere/bundle/gpu_check.sh" --only-check || fail "a check failed"

# Install another program under the name of the first one.
cd "$folder/elsewhere/bundle"
grep '^01_' cases.txt >some.txt
mv some.txt cases.txt
sed -i 's/C(i) = A(i) + B(i)/C(i) = A(i) - B(i)/' modules/pocl/01_vector_add.gpu.ferry
if ./gpu_check.sh --only-check >"$folder/log" 2>&1; then fail "a damaged module went unnoticed: $(cat "$folder/log")"; fi
grep -q '^WRONG 01_vector_add.gpu (pocl)' "$folder/log" || fail "expected WRONG, got: $(cat "$folder/log")"
