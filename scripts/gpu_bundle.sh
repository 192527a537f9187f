#!/usr/bin/env bash
# Creates a folder with which a machine that has a GPU and its driver, but nothing else, can check ferry: rpc_server,
# the client without a compiler, every program of examples/ that has a schedule for GPUs, programs of the fuzzer under
# random schedules, and two networks, all compiled. Copy it to the machine and run its gpu_check.sh. Run
# scripts/build.sh once before.
#
#   scripts/gpu_bundle.sh [FOLDER [NAME=TARGET...]]      (default: build/gpu-bundle, code by NVRTC and PTX by LLVM)
#
# Each NAME=TARGET compiles everything once more: gpu_check.sh checks all of them and compares their times. Networks and
# random programs are compiled for the last one.
#
# For tests: FERRY_BUNDLE_EXAMPLES='0*' takes only the examples and figures whose names match, FERRY_BUNDLE_RANDOM=N so
# many random programs (60), FERRY_BUNDLE_NETWORKS=small networks of a few weights, or none.
set -euo pipefail
cd "$(dirname "$0")/.."
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
limit=40000000
chosen=${FERRY_BUNDLE_EXAMPLES:-*}
random=${FERRY_BUNDLE_RANDOM:-60}
networks=${FERRY_BUNDLE_NETWORKS:-whole}
folder=${1:-build/gpu-bundle}
shift || true
if [[ $# -eq 0 ]]; then
  set -- "nvrtc=cuda -arch=sm_80,sm_90 -compiler=nvrtc" "llvm=cuda -arch=sm_80,sm_90 -compiler=llvm"
fi
ferry=build/release/bin/ferry
random_modules=build/release/tests/e2e/gpu_bundle/gpu_random_modules

fail() { echo "gpu_bundle.sh: $*" >&2; exit 1; }
trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }
# Prints the words after KEY in a schedule's line "# KEY ...".
line_of() { sed -n "s/^# $2 //p" "$1" | head -1; }

for file in $ferry build/client/bin/ferry build/client/bin/gpu_bench build/device/x86_64/dynamic/rpc_server \
  build/release/tests/conformance/device/device_conformance build/release/bin/gpu_run $random_modules; do
  [[ -x $file ]] || fail "expected $file: run scripts/build.sh"
done
[[ ! -e $folder || -f $folder/cases.txt ]] || fail "$folder is there and is no bundle"
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/libexec/ferry/x86_64/dynamic"
cp build/client/bin/ferry build/client/bin/gpu_bench "$folder/bin"
cp build/device/x86_64/dynamic/rpc_server "$folder/libexec/ferry/x86_64/dynamic"
strip -o "$folder/bin/device_conformance" build/release/tests/conformance/device/device_conformance
strip -o "$folder/bin/gpu_run" build/release/bin/gpu_run
cp scripts/gpu_check.sh scripts/gpu_networks.py "$folder"

# compile NAME KERNEL SCHEDULE [WORD...]: compiles for every target.
compile() {
  local name=$1 kernel=$2 schedule=$3
  shift 3
  local words=("$@")
  [[ $schedule == default ]] || words+=(--schedule "$schedule")
  for variant in "${variants[@]}"; do
    mkdir -p "$folder/modules/${variant%%=*}"
    "$ferry" compile "$kernel" "${words[@]}" --target "${variant#*=}" -o "$folder/modules/${variant%%=*}/$name.ferry" \
      >/dev/null || fail "$name for ${variant#*=} does not compile"
  done
}

# Divides the words of a command into those for compiling and those for calling the result. --fn belongs to both; --fix
# belongs only to the former, because the module contains those sizes.
divide() {
  compiled=()
  called=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --fn) compiled+=("$1" "$2"); called+=("$1" "$2"); shift ;;
      --fix) compiled+=("$1" "$2"); shift ;;
      *) called+=("$1") ;;
    esac
    shift
  done
}

variants=("$@")
last=${variants[-1]}
printf '%s\n' "${variants[@]}" >"$folder/variants.txt"
: >"$folder/cases.txt"
for schedule in examples/*.schedule; do
  [[ $(line_of "$schedule" target) =~ ^(opencl|cuda) ]] || continue
  name=$(basename "$schedule" .schedule)
  [[ $name == $chosen ]] || continue
  mapfile -t knobs < <(sed -n 's/^# knob /--knob=/p' "$schedule")
  # First sizes that are not multiples of any tile, then those of the example.
  before=
  for key in try run; do
    read -ra words <<<"$(line_of "$schedule" $key)"
    divide "${words[@]}"
    if [[ "${compiled[*]}" != "$before" || $key == try ]]; then
      module=$name
      [[ $key == try ]] || module=$name.run
      compile "$module" "examples/${name%%.*}.tc" "$schedule" "${compiled[@]}" "${knobs[@]}"
    fi
    before="${compiled[*]}"
    echo "$module|${called[*]}" >>"$folder/cases.txt"
  done
done
[[ -s $folder/cases.txt ]] || fail "no schedule of examples/ is for GPUs"

# Kernels in CUDA C, which NVRTC alone compiles, and their definitions to check them against.
: >"$folder/cuda.txt"
if [[ ${variants[0]#*=} == cuda* && ${variants[0]} != *-compiler=llvm* ]]; then
  mkdir "$folder/modules/cuda-c"
  while IFS='|' read -r name called; do
    [[ $name == $chosen ]] || continue
    "$ferry" compile "examples/cuda/$name.cu" --target "${variants[0]#*=}" -o "$folder/modules/cuda-c/$name.ferry" \
      >/dev/null || fail "examples/cuda/$name.cu does not compile"
    "$ferry" compile "examples/cuda/$name.tc" --target "${last#*=}" -o "$folder/modules/cuda-c/$name.definition.ferry" \
      >/dev/null || fail "examples/cuda/$name.tc does not compile"
    echo "$name|$called" >>"$folder/cuda.txt"
  done <<'TEXT'
01_vector_add|--size n=10003
02_product|--size m=67,k=129,n=65
03_row_sum|--size m=67,n=1001 --fn row_sum
03_row_sum|--size m=67,n=1001 --fn row_sum_by_warps
04_stencil|--size h=67,w=129
TEXT
fi

: >"$folder/figures.txt"
while IFS='|' read -r name kernel schedule options counts peer aim; do
  [[ -n $name && $name != \#* ]] || continue
  name=$(trim "$name")
  [[ $name == $chosen ]] || continue
  read -ra words <<<"$options"
  divide "${words[@]}"
  compile "$name" "$(trim "$kernel")" "$(trim "$schedule")" "${compiled[@]}"
  echo "$name|${called[*]}|$(trim "$counts")|$(trim "$peer")|$(trim "$aim")" >>"$folder/figures.txt"
done <scripts/gpu_figures.txt

cat >"$folder/nothing.tc" <<'TEXT'
def nothing(float(N) A) -> (B) { B(i) = A(i) }
TEXT
compile nothing "$folder/nothing.tc" default --schedule-text "split i 32 -> b t; bind b blockIdx.x; bind t threadIdx.x"
rm "$folder/nothing.tc"

if ((random > 0)) && [[ ${last#*=} == cuda* ]]; then
  $random_modules "$folder/modules/random" "$random" 1 "${last#*=}" >"$folder/random.txt" || fail "no random programs"
fi

if [[ $networks != none && ${last#*=} == cuda* ]]; then
  python=build/venv/bin/python
  small=
  if [[ $networks == small ]]; then
    small=--small
    touch "$folder/small"
  fi
  mkdir "$folder/networks"
  $python scripts/gpu_networks.py write "$folder/networks" $small
  for name in $($python scripts/gpu_networks.py names); do
    "$ferry" compile "$folder/networks/$name.onnx" --target "${last#*=}" -o "$folder/networks/$name.ferry" >/dev/null ||
      fail "the network $name does not compile"
    rm "$folder/networks/$name.onnx"
    echo "$name" >>"$folder/networks.txt"
  done
fi

bytes=$(du -sb "$folder" | cut -f1)
((bytes < limit)) || fail "the bundle has $bytes bytes, expected less than $limit"
echo "$folder: $bytes bytes, $(wc -l <"$folder/cases.txt") checks of $(find "$folder" -name '*.ferry' | wc -l) modules"
