#!/usr/bin/env bash
# Checks ferry on this machine's GPU and measures its performance, from the folder that scripts/gpu_bundle.sh created.
# Needs the GPU's driver, but no network and no toolkit. What else is installed is used: cuBLAS and cuDNN (also those
# inside of PyTorch's wheels), PyTorch, compute-sanitizer, ncu.
#
#   ./gpu_check.sh [--visit 1|2 | --phases LETTERS] [--seconds N] [--seed N] [--results FOLDER] [--again]
#
# The phases, each with its own limit: (a) facts, the conformance suite, 30 programs; (b) all programs of every compiler;
# (c) figures beside the peers; (d) networks beside PyTorch; (e) random schedules, compute-sanitizer, ncu. Without
# options all run. Visit 1 is a and b in 5 minutes, visit 2 is c, d and e in 8; --seconds limits the whole run.
#
# Everything is written as it is known, so that a run that is cut off loses only its last item, and another run goes on
# where it ended (--again begins anew): report.txt, figures.txt, figures.json, and for what fails a folder in failed/
# with the module, its arguments and seed, and the message. Exits with 1 if a result is wrong, with 3 if something is
# left to do.
set -uo pipefail
cd "$(dirname "$0")"
phases=abcde
seconds=
seed=
results=results
again=0
usage() { echo "usage: gpu_check.sh [--visit 1|2 | --phases LETTERS] [--seconds N] [--seed N] [--results FOLDER] [--again]" >&2; exit 2; }
while [[ $# -gt 0 ]]; do
  case $1 in
    --visit)
      case ${2-} in 1) phases=ab; seconds=${seconds:-280} ;; 2) phases=cde; seconds=${seconds:-460} ;; *) usage ;; esac
      shift ;;
    --phases) [[ ${2-} =~ ^[abcde]+$ ]] || usage; phases=$2; shift ;;
    --seconds) [[ ${2-} =~ ^[0-9]+$ ]] || usage; seconds=$2; shift ;;
    --seed) [[ ${2-} =~ ^[0-9]+$ ]] || usage; seed=$2; shift ;;
    --results) results=${2-}; [[ -n $results ]] || usage; shift ;;
    --again) again=1 ;;
    *) usage ;;
  esac
  shift
done
unset FERRY_REMOTE FERRY_RPC_SERVER
((again)) && rm -rf "$results"
mkdir -p "$results/failed"
touch "$results/done.txt" "$results/figures.txt"
# A run that goes on draws the same inputs.
[[ -n $seed ]] || seed=$(cat "$results/seed.txt" 2>/dev/null || echo $((RANDOM * 32768 + RANDOM)))
echo "$seed" >"$results/seed.txt"
mapfile -t lines <variants.txt
variants=("${lines[@]%%=*}")
first=${variants[0]}
case ${lines[0]#*=} in cuda*) kind=cuda ;; *) kind=opencl ;; esac
jobs=$(($(nproc) / 2))
((jobs > 8)) && jobs=8
((jobs < 1)) && jobs=1

SECONDS=0
run_end=${seconds:-1000000}
phase_end=0
unfinished=0

say() { echo "$*" | tee -a "$results/report.txt"; }
is_done() { grep -qxF "$1" "$results/done.txt"; }
mark() { echo "$1" >>"$results/done.txt"; }
left() {
  local end=$((phase_end < run_end ? phase_end : run_end))
  echo $((end > SECONDS ? end - SECONDS : 0))
}
# begin LETTER SECONDS TITLE: returns 1 unless the phase is wanted and there is time for it.
begin() {
  [[ $phases == *$1* ]] || return 1
  phase_end=$((SECONDS + $2))
  if (($(left) < 5)); then
    say "== ($1) $3: no time"
    unfinished=1
    return 1
  fi
  say "== ($1) $3: $(left) s"
}
# limited SECONDS COMMAND...: ends the command after so many seconds, and at the end of the phase. Returns 124 then.
limited() {
  local most=$1 rest
  shift
  rest=$(left)
  ((rest < most)) && most=$rest
  ((most > 0)) || return 124
  timeout -k 2 "$most" "$@"
}
is_late() { [[ $1 == 124 || $1 == 137 ]]; }
# Prints the first number with this name in ferry's JSON output.
number() { sed -n "s/.*\"$2\": \([0-9.e+-]*\).*/\1/p" "$1" | head -1; }
# One line with the state of the card.
clocks() {
  local query=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,clocks_throttle_reasons.active
  nvidia-smi --query-gpu=$query --format=csv,noheader 2>/dev/null | head -1 || echo "unknown: there is no nvidia-smi"
}

# keep_failure NAME MODULE ARGUMENTS SEED OUTPUT: what is needed to repeat it.
keep_failure() {
  local folder="$results/failed/$1"
  mkdir -p "$folder"
  [[ -f $2 ]] && cp "$2" "$folder/module.ferry"
  echo "$3" >"$folder/arguments.txt"
  echo "$4" >"$folder/seed.txt"
  cp "$5" "$folder/output.txt"
}

# check_case PHASE VARIANT NAME OPTIONS NUMBER: runs one program against its definition, in the background.
check_case() {
  local key="$1 $2 $3 $4" words output code own=$((seed + $5))
  local against=--check
  [[ $2 == cuda-c ]] && against="--check-against=modules/cuda-c/$3.definition.ferry"
  read -ra words <<<"$4"
  output="$results/output.$BASHPID"
  limited 60 bin/ferry run "modules/$2/$3.ferry" "${words[@]}" --seed "$own" "$against" >"$output" 2>&1
  code=$?
  if ((code == 0)); then
    mark "$key"
  elif is_late $code && (($(left) == 0)); then
    touch "$results/cut-off"
  else
    is_late $code && echo "ended after 60 s" >>"$output"
    keep_failure "$1-$2-$3-$5" "modules/$2/$3.ferry" "run module.ferry $4 --seed $own $against" "$own" "$output"
    { echo "WRONG $3 ($2) $4 --seed $own"; tail -3 "$output"; } | tee -a "$results/report.txt"
    mark "$key"
  fi
  rm -f "$output"
}

# check_cases PHASE FILE MOST VARIANT...: checks up to MOST lines of a file that are not done, for every variant.
check_cases() {
  local phase=$1 file=$2 most=$3 count=0 name options variant index=0
  shift 3
  rm -f "$results/cut-off"
  while IFS='|' read -r name options; do
    for variant in "$@"; do
      index=$((index + 1))
      ((count < most)) || break 2
      count=$((count + 1))
      is_done "$phase $variant $name $options" && continue
      if (($(left) < 2)); then
        touch "$results/cut-off"
        break 2
      fi
      while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
      check_case "$phase" "$variant" "$name" "$options" "$index" &
    done
  done <"$file"
  wait
  say "$(grep -c "^$phase [^ ]* [^ ]" "$results/done.txt") checked, $(find "$results/failed" -maxdepth 1 -name "$phase-*" | wc -l) failed"
  if [[ -e $results/cut-off ]]; then
    say "not all: the time was up"
    unfinished=1
    rm -f "$results/cut-off"
    return 1
  fi
}

facts_and_programs() {
  bin/ferry device 2>&1 | grep -E '^(cpu|runs on|server|gpu)' | tee -a "$results/report.txt"
  say "card: $(clocks)"
  if ! is_done "a conformance"; then
    limited 40 env FERRY_CONFORMANCE=null,cpu,$kind bin/device_conformance >"$results/conformance.txt" 2>&1
    local code=$?
    tail -3 "$results/conformance.txt" | head -2 | tee -a "$results/report.txt"
    if ((code != 0)); then
      say "WRONG conformance"
      keep_failure a-conformance /dev/null "FERRY_CONFORMANCE=null,cpu,$kind bin/device_conformance" none "$results/conformance.txt"
    fi
    mark "a conformance"
  fi
  check_cases a cases.txt 30 "$first"
}

# figure_of NAME VARIANT OPTIONS COUNTS PEER AIM: one line of figures.txt.
figure_of() {
  local name=$1 variant=$2 counts=$4 peer=$5 aim=$6 words json peer_value code
  read -ra words <<<"$3"
  json="$results/$name.$variant.json"
  peer_value=$(awk -v name="$peer" '$1 == name && $2 != "missing:" { print $2 }' "$results/peers.txt")
  limited 30 bin/ferry bench "modules/$variant/$name.ferry" "${words[@]}" --seed "$seed" --json >"$json.new" 2>"$results/bench.txt"
  code=$?
  if ((code != 0)); then
    if is_late $code && (($(left) == 0)); then
      rm -f "$json.new"
      return 1
    fi
    is_late $code && echo "ended after 30 s" >>"$results/bench.txt"
    printf '%-18s %-8s %s\n' "$name" "$variant" "$(tail -1 "$results/bench.txt")" | tee -a "$results/figures.txt"
    keep_failure "c-$variant-$name" "modules/$variant/$name.ferry" "bench module.ferry $3 --seed $seed" "$seed" "$results/bench.txt"
    rm -f "$json.new"
    return 0
  fi
  mv "$json.new" "$json"
  awk -v name="$name" -v variant="$variant" -v seconds="$(number "$json" median_seconds)" \
    -v rate="$(number "$json" "${counts}_per_second")" -v counts="$counts" -v peer="$peer_value" -v peer_name="$peer" \
    -v aim="$aim" 'BEGIN {
      unit = counts == "bytes" ? "GB/s" : "TFLOP/s"; rate *= counts == "bytes" ? 1e-9 : 1e-12
      printf "%-18s %-8s %9.4g ms %8.4g %7s ", name, variant, seconds * 1e3, rate, unit
      printf "%22s %8s %6s\n", peer == "" ? peer_name " missing" : sprintf("%.4g", peer),
        peer == "" ? "-" : sprintf("%.3f", rate / peer), aim
    }' | tee -a "$results/figures.txt"
}

# Prints the folders with NVIDIA's libraries inside of PyTorch's wheels, for the loader.
wheel_libraries() {
  python3 - 2>/dev/null <<'PYTHON'
import glob, importlib.util, os
spec = importlib.util.find_spec("torch")
if spec is not None and spec.submodule_search_locations:
    torch = list(spec.submodule_search_locations)[0]
    folders = sorted(glob.glob(os.path.join(os.path.dirname(torch), "nvidia", "*", "lib"))) + [os.path.join(torch, "lib")]
    print(":".join(folder for folder in folders if os.path.isdir(folder)))
PYTHON
}

has_torch() {
  python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' 2>/dev/null
}

# Collects all results in one file.
collect() {
  {
    echo "{\"date\": \"$(date -u +%Y-%m-%d)\", \"card\": \"$(clocks)\", \"seed\": $seed,"
    echo "\"checked\": $(grep -c '^[abe] [^ ]* [^ ]' "$results/done.txt"), \"failed\": $(find "$results/failed" -mindepth 1 -maxdepth 1 | wc -l),"
    echo "\"peers\": $(cat "$results/peers.json" 2>/dev/null | grep . || echo null),"
    echo "\"networks\": $(cat "$results/torch.json" 2>/dev/null | grep . || echo null),"
    echo "\"cases\": {"
    local comma='' json
    for json in "$results"/*.*.json; do
      [[ -f $json ]] || continue
      echo "$comma\"$(basename "$json" .json)\": $(cat "$json")"
      comma=,
    done
    echo "}}"
  } >"$results/figures.json"
}

figures() {
  local name options counts peer aim variant
  say "clocks before: $(clocks)"
  if ! is_done "c peers"; then
    local libraries
    libraries=$(wheel_libraries)
    LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} limited 60 bin/gpu_bench \
      --null "modules/$first/nothing.ferry" --json "$results/peers.json" >"$results/peers.txt" 2>&1
    local code=$?
    tee -a "$results/report.txt" <"$results/peers.txt"
    if is_late $code; then say "the peers took longer than their time"; fi
    mark "c peers"
    printf '%-18s %-8s %12s %16s %22s %8s %6s\n' case code time rate peer ratio aim >>"$results/figures.txt"
    awk '{ value[$1] = $2 } END {
      if (value["null_call"] + 0 > 0)
        printf "null kernel: %.2f us over RPC; aim 1.5 x %.2f us launched here + %.2f us an empty RPC = %.2f us\n",
          value["null_call"], value["local_null_launch"], value["null_rpc"],
          1.5 * value["local_null_launch"] + value["null_rpc"]
    }' "$results/peers.txt" | tee -a "$results/figures.txt"
  fi
  while IFS='|' read -r name options counts peer aim; do
    for variant in "${variants[@]}"; do
      is_done "c $variant $name" && continue
      if (($(left) < 3)) || ! figure_of "$name" "$variant" "$options" "$counts" "$peer" "$aim"; then
        say "not all figures: the time was up"
        unfinished=1
        break 2
      fi
      mark "c $variant $name"
    done
  done <figures.txt
  say "clocks after: $(clocks)"
  collect
}

networks() {
  local name json code names=()
  [[ -f networks.txt ]] || { say "the bundle has no networks"; return; }
  while read -r name; do
    is_done "d ferry $name" && continue
    json="$results/$name.network.json"
    limited 30 bin/ferry bench "networks/$name.ferry" --seed "$seed" --json >"$json.new" 2>"$results/bench.txt"
    code=$?
    if is_late $code && (($(left) == 0)); then
      say "not all networks: the time was up"
      unfinished=1
      break
    fi
    is_late $code && echo "ended after 30 s" >>"$results/bench.txt"
    if ((code == 0)); then
      mv "$json.new" "$json"
      printf '%-18s ferry %9.4g ms\n' "$name" "$(awk -v s="$(number "$json" median_seconds)" 'BEGIN { print s * 1e3 }')" |
        tee -a "$results/figures.txt"
    else
      say "WRONG network $name: $(tail -1 "$results/bench.txt")"
      keep_failure "d-$name" "networks/$name.ferry" "bench module.ferry --seed $seed" "$seed" "$results/bench.txt"
      rm -f "$json.new"
    fi
    mark "d ferry $name"
  done <networks.txt
  while read -r name; do is_done "d torch $name" || names+=("$name"); done <networks.txt
  if ! has_torch; then
    say "PyTorch missing"
  elif ((${#names[@]} > 0)); then
    # One process for all, since PyTorch takes seconds to load. It says "NAME torch ..." of each, or "WRONG NAME ...".
    limited 90 python3 gpu_networks.py compare "${names[@]}" --ferry bin/ferry --results "$results" >"$results/torch.txt" 2>&1
    code=$?
    grep -E '^[a-z0-9_]+ +torch ' "$results/torch.txt" | tee -a "$results/figures.txt"
    for name in "${names[@]}"; do
      if grep -q "^WRONG $name " "$results/torch.txt"; then
        say "$(grep "^WRONG $name " "$results/torch.txt")"
        keep_failure "d-$name-results" "networks/$name.ferry" "gpu_networks.py compare $name" none "$results/torch.txt"
      elif ! grep -qE "^$name +torch " "$results/torch.txt"; then
        is_late $code || say "$name beside PyTorch: $(tail -1 "$results/torch.txt")"
        unfinished=1
        continue
      fi
      mark "d torch $name"
    done
  fi
  collect
}

# find_tool NAME: a program of the CUDA Toolkit.
find_tool() { command -v "$1" || ls /usr/local/cuda*/bin/"$1" /opt/cuda/bin/"$1" 2>/dev/null | head -1; }

sanitize() {
  local sanitizer=$1 tool name options words log code count=0
  # Every n-th program, so that ten are spread over all.
  local every=$((($(wc -l <cases.txt) + 9) / 10))
  while IFS='|' read -r name options; do
    count=$((count + 1))
    (((count - 1) % every == 0)) || continue
    read -ra words <<<"$options"
    for tool in memcheck racecheck initcheck; do
      is_done "e $tool $name" && continue
      (($(left) > 3)) || return 1
      log="$results/$tool-$name.txt"
      limited 45 "$sanitizer" --tool "$tool" --error-exitcode 97 bin/gpu_run "modules/$first/$name.ferry" "${words[@]}" --seed "$seed" >"$log" 2>&1
      code=$?
      if is_late $code && (($(left) == 0)); then return 1; fi
      if ((code == 0)); then
        say "$tool $name: fine"
        rm -f "$log"
      else
        say "WRONG $tool $name: $(grep -m1 -E 'Invalid|hazard|Uninitialized|gpu_run:|Error' "$log" || tail -1 "$log")"
        keep_failure "e-$tool-$name" "modules/$first/$name.ferry" "gpu_run module.ferry $options --seed $seed" "$seed" "$log"
      fi
      mark "e $tool $name"
    done
  done <cases.txt
}

profile() {
  local ncu=$1 name options words code
  for name in sgemm_4096 hgemm_4096; do
    is_done "e ncu $name" && continue
    options=$(awk -F'|' -v name=$name '$1 == name { print $2 }' figures.txt)
    [[ -f modules/$first/$name.ferry ]] || continue
    (($(left) > 3)) || return 1
    read -ra words <<<"$options"
    limited 60 "$ncu" --set full --launch-count 1 bin/gpu_run "modules/$first/$name.ferry" "${words[@]}" --seed "$seed" >"$results/ncu-$name.txt" 2>&1
    code=$?
    if is_late $code && (($(left) == 0)); then return 1; fi
    say "ncu $name: $(grep -m1 -E 'Compute \(SM\) Throughput|ERR_|Error' "$results/ncu-$name.txt" || echo 'see ncu-'$name'.txt')"
    mark "e ncu $name"
  done
}

deep_checks() {
  local sanitizer ncu all=$(left) end=$phase_end
  phase_end=$((SECONDS + all * 2 / 5))
  [[ -f random.txt ]] && check_cases e random.txt 100000 random
  phase_end=$((SECONDS + (end - SECONDS) * 3 / 4))
  sanitizer=$(find_tool compute-sanitizer)
  if [[ $kind != cuda ]]; then
    say "compute-sanitizer and ncu are for CUDA"
  elif [[ -n $sanitizer ]]; then
    sanitize "$sanitizer" || { say "not all programs under compute-sanitizer: the time was up"; unfinished=1; }
  else
    say "compute-sanitizer missing"
  fi
  phase_end=$end
  ncu=$(find_tool ncu)
  if [[ $kind == cuda && -n $ncu ]]; then
    profile "$ncu" || { say "not all profiles: the time was up"; unfinished=1; }
  elif [[ $kind == cuda ]]; then
    say "ncu missing"
  fi
}

begin a 60 "facts, conformance, 30 programs" && facts_and_programs
begin b 120 "all programs: ${variants[*]}, CUDA C" && {
  check_cases b cuda.txt 100000 cuda-c
  check_cases b cases.txt 100000 "${variants[@]}"
}
begin c 120 "figures" && figures
begin d 90 "networks" && networks
rest=$((run_end - SECONDS))
((rest > 600)) && rest=600
begin e "$rest" "random schedules, compute-sanitizer, ncu" && deep_checks
failed=$(find "$results/failed" -mindepth 1 -maxdepth 1 | wc -l)
say "$failed failed in ${SECONDS} s; $results/report.txt, figures.txt, figures.json and failed/ hold the rest"
((failed == 0)) || exit 1
exit $((unfinished ? 3 : 0))
