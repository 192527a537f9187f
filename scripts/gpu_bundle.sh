#!/usr/bin/env bash
# Creates a folder with which a machine that has a GPU and its driver, but nothing else, can check ferry: rpc_server,
# the client without a compiler, and every program of examples/ that has a schedule for GPUs, compiled. Copy it to the
# machine and run its gpu_check.sh. Run scripts/build.sh once before.
#
#   scripts/gpu_bundle.sh [FOLDER [NAME=TARGET...]]      (default: build/gpu-bundle, code by NVRTC and PTX by LLVM)
#
# Each NAME=TARGET compiles everything once more: gpu_check.sh checks all of them and compares their times.
# FERRY_BUNDLE_EXAMPLES='0*' takes only the examples and figures whose names match.
set -euo pipefail
cd "$(dirname "$0")/.."
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
limit=60000000
chosen=${FERRY_BUNDLE_EXAMPLES:-*}
folder=${1:-build/gpu-bundle}
shift || true
if [[ $# -eq 0 ]]; then
  set -- "nvrtc=cuda -arch=sm_80,sm_90 -compiler=nvrtc" "llvm=cuda -arch=sm_80,sm_90 -compiler=llvm"
fi
ferry=build/release/bin/ferry

fail() { echo "gpu_bundle.sh: $*" >&2; exit 1; }
trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }
# Prints the words after KEY in a schedule's line "# KEY ...".
line_of() { sed -n "s/^# $2 //p" "$1" | head -1; }

for file in $ferry build/client/bin/ferry build/client/bin/gpu_bench build/device/x86_64/dynamic/rpc_server \
  build/release/tests/conformance/device/device_conformance; do
  [[ -x $file ]] || fail "expected $file: run scripts/build.sh"
done
[[ ! -e $folder || -f $folder/cases.txt ]] || fail "$folder is there and is no bundle"
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/libexec/ferry/x86_64/dynamic"
cp build/client/bin/ferry build/client/bin/gpu_bench "$folder/bin"
cp build/device/x86_64/dynamic/rpc_server "$folder/libexec/ferry/x86_64/dynamic"
strip -o "$folder/bin/device_conformance" build/release/tests/conformance/device/device_conformance
cp scripts/gpu_check.sh "$folder"

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
echo 'bind i threadIdx.x' >"$folder/nothing.schedule"
compile nothing "$folder/nothing.tc" default --schedule-text "split i 32 -> b t; bind b blockIdx.x; bind t threadIdx.x"
rm "$folder/nothing.tc" "$folder/nothing.schedule"

bytes=$(du -sb "$folder" | cut -f1)
((bytes < limit)) || fail "the bundle has $bytes bytes, expected less than $limit"
echo "$folder: $bytes bytes, $(wc -l <"$folder/cases.txt") checks of $(ls "$folder"/modules/*/*.ferry | wc -l) modules"
