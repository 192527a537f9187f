#!/usr/bin/env bash
# Tests the bundle made by scripts/gpu_bundle.sh, which must be self-contained: its programs for OpenCL run here from
# another folder, and those for CUDA rehearse every phase of gpu_check.sh on the stand-in for NVIDIA's driver, which
# interprets their PTX. nvidia-smi, compute-sanitizer, ncu and PyTorch have stand-ins in stand_ins/. With a pattern only
# the examples that match are in it: gpu_examples_test runs all of them.
#
#   gpu_bundle_test.sh [PATTERN]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$PWD/build/release
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "gpu_bundle_test: $*" >&2; [[ -f $folder/log ]] && tail -40 "$folder/log" >&2; exit 1; }
has() { grep -qE -- "$2" "$1" || fail "expected '$2' in ${1##*/}: $(cat "$1")"; }

export FERRY_BUNDLE_EXAMPLES=${1:-*} FERRY_BUNDLE_RANDOM=3 FERRY_BUNDLE_NETWORKS=small
export VIRTUAL_ENV=$PWD/build/venv

echo "-- OpenCL"
scripts/gpu_bundle.sh "$folder/pocl" pocl=opencl
mkdir "$folder/elsewhere"
mv "$folder/pocl" "$folder/elsewhere/bundle"
(cd "$folder/elsewhere/bundle" && ./gpu_check.sh --phases a) >"$folder/log" 2>&1 || fail "a check failed"

echo "-- CUDA"
# NVRTC makes PTX here, in place of machine code.
nvrtc=$(ls build/venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.1[0-9] 2>/dev/null | head -1)
if [[ -z $nvrtc ]]; then
  echo "skipped: there is no NVRTC (scripts/setup.sh installs it)"
  exit 0
fi
FERRY_REAL_NVRTC=$PWD/$nvrtc FERRY_NVRTC=$build/fake_nvrtc/libptx_nvrtc.so \
  scripts/gpu_bundle.sh "$folder/cuda" "nvrtc=cuda -arch=sm_80 -compiler=nvrtc" "llvm=cuda -arch=sm_80 -compiler=llvm"
cd "$folder/cuda"
export LD_LIBRARY_PATH=$build/fake_cuda FERRY_FAKE_CUDA_ARCH=80
export PATH="$here/stand_ins:$PATH" PYTHONPATH=$here/stand_ins PYTHONDONTWRITEBYTECODE=1
# An interpreter needs small programs: the sizes that are tried, no figures but small ones, and four programs.
grep -v '\.run|' cases.txt | awk -F'|' '!seen[$1]++' | head -4 >some.txt && mv some.txt cases.txt
[[ ! -s figures.txt ]] || sed -i '/^add_1gib/!d; s/N=[0-9]*/N=1000/' figures.txt
[[ $(wc -l <networks.txt) == 4 ]] || fail "expected four networks"
printf '%s\n' resnet_f32 transformer_f16 >networks.txt
python3() { VIRTUAL_ENV= command python3 "$@"; }

check() { ./gpu_check.sh "$@" >"$folder/log" 2>&1; }
echo "-- phase a"
check --phases a || fail "phase a"
has results/report.txt '^card: Fake GPU, 580.00, 1755 MHz'
has results/report.txt '^[1-9][0-9]* checked, 0 failed'
has results/conformance.txt 'SUCCESS'
echo "-- phase b"
check --phases b || fail "phase b"
lines=$(wc -l <results/done.txt)
[[ $(grep -c '^b cuda-c 01_vector_add ' results/done.txt) == 1 ]] || fail "expected kernels in CUDA C to be checked"
# Another run has nothing left to do.
check --phases ab || fail "a run that has nothing to do"
[[ $(wc -l <results/done.txt) == "$lines" ]] || fail "what was done is done again"
echo "-- phase c"
check --phases c || fail "phase c"
has results/figures.txt '^add_1gib +nvrtc .* ms .* GB/s'
has results/figures.txt '^add_1gib +llvm '
has results/figures.txt '^null kernel: .* us over RPC'
has results/report.txt '^clocks before: Fake GPU'
has results/report.txt '^clocks after: Fake GPU'
command python3 -m json.tool results/figures.json >/dev/null || fail "figures.json is not JSON"
echo "-- phase d"
PATH="$OLDPWD/build/venv/bin:$PATH" check --phases d || fail "phase d"
has results/figures.txt '^resnet_f32 +ferry .* ms'
has results/figures.txt '^transformer_f16 +torch .*largest difference'
[[ $(grep -c '^d torch ' results/done.txt) == 2 ]] || fail "expected two networks to be compared"
echo "-- phase e"
# Another program in the place of the products.
for name in sgemm_4096 hgemm_4096; do
  cp modules/nvrtc/01_vector_add.gpu.ferry "modules/nvrtc/$name.ferry"
  echo "$name|--size N=100|flops|cublas_$name|0.9" >>figures.txt
done
check --phases e --seconds 120 || fail "phase e"
has results/report.txt '^racecheck 01_vector_add.gpu: fine'
has results/report.txt '^initcheck '
has results/report.txt '^ncu sgemm_4096: .*Throughput'
[[ $(grep -c '^e random ' results/done.txt) == 3 ]] || fail "expected three random programs"

echo "-- time that does not suffice, and another run"
# A program that the interpreter runs for minutes.
cp cases.txt all.txt
echo "01_vector_add.gpu|--size N=20000000" >>cases.txt
code=0
SECONDS=0
check --again --phases b --seconds 6 || code=$?
[[ $code == 3 ]] || fail "expected code 3 when the time is up, got $code"
((SECONDS < 20)) || fail "expected an end after 6 s, got $SECONDS"
has results/report.txt '^not all: the time was up'
has results/report.txt '^0 failed in'
mv all.txt cases.txt
check --phases b || fail "a run that goes on"

echo "-- what fails"
# Another program under the name of the first one, whose definition says something else.
sed -i 's/C(i) = A(i) + B(i)/C(i) = A(i) - B(i)/' modules/llvm/01_vector_add.gpu.ferry
code=0
check --again --phases b --seed 5 || code=$?
[[ $code == 1 ]] || fail "a damaged module went unnoticed"
has results/report.txt '^WRONG 01_vector_add.gpu \(llvm\)'
kept=$(ls -d results/failed/b-llvm-01_vector_add.gpu-*)
for file in module.ferry arguments.txt seed.txt output.txt; do [[ -s $kept/$file ]] || fail "expected $kept/$file"; done
if (cd "$kept" && eval "../../../bin/ferry $(cat arguments.txt)") >/dev/null 2>&1; then
  fail "what is kept of a failure does not repeat it"
fi
FERRY_TEST_HAZARD=01_vector_add.gpu check --phases e --seconds 100 || true
has results/report.txt '^WRONG racecheck 01_vector_add.gpu: .*hazard'
[[ -s results/failed/e-racecheck-01_vector_add.gpu/module.ferry ]] || fail "expected the module with the hazard"
echo "-- fine"
