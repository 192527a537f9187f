#!/usr/bin/env bash
# Checks ferry on this machine's GPU and measures its performance, from the folder that scripts/gpu_bundle.sh created.
# Needs the GPU's driver, but no network and no toolkit. cuBLAS and cuDNN provide the peers' figures if the loader finds
# them (LD_LIBRARY_PATH).
#
#   ./gpu_check.sh [--only-check] [--seed N]
#
# The steps are: 1. run the conformance suite of devices; 2. check every program against its definition, with fresh
# random data, for each compiler; 3. report which compiler's code is slower; 4. measure the figures. The figures are
# stored in results/figures.txt and results/figures.json. Exits with 1 if a result is wrong.
set -uo pipefail
cd "$(dirname "$0")"
only_check=0
seed=$((RANDOM * 32768 + RANDOM))
while [[ $# -gt 0 ]]; do
  case $1 in
    --only-check) only_check=1 ;;
    --seed) seed=$2; shift ;;
    *) echo "usage: gpu_check.sh [--only-check] [--seed N]" >&2; exit 2 ;;
  esac
  shift
done
unset FERRY_REMOTE FERRY_RPC_SERVER
mkdir -p results
failed=0
mapfile -t lines <variants.txt
variants=("${lines[@]%%=*}")
first=${variants[0]}
case ${lines[0]#*=} in cuda*) kind=cuda ;; *) kind=opencl ;; esac

# Prints the first number with this name in ferry's JSON output.
number() { sed -n "s/.*\"$2\": \([0-9.e+-]*\).*/\1/p" "$1" | head -1; }

echo "== the device"
bin/ferry device | grep -E '^(cpu|runs on|server)'
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv,noheader

echo "== conformance of null, cpu and $kind"
if FERRY_CONFORMANCE=null,cpu,$kind bin/device_conformance >results/conformance.txt 2>&1; then
  tail -3 results/conformance.txt | head -2
else
  tail -40 results/conformance.txt
  failed=$((failed + 1))
fi

echo "== programs against their definitions, seed $seed"
checks=0
while IFS='|' read -r name options; do
  read -ra words <<<"$options"
  for variant in "${variants[@]}"; do
    checks=$((checks + 1))
    seed=$((seed + 1))
    if ! bin/ferry run "modules/$variant/$name.ferry" "${words[@]}" --seed "$seed" --check >results/run.txt 2>&1; then
      echo "WRONG $name ($variant) ${words[*]} --seed $seed"
      tail -3 results/run.txt
      failed=$((failed + 1))
    fi
  done
done <cases.txt
echo "$checks checked, $failed failed"
((only_check == 0)) || exit $((failed > 0))

if [[ ${#variants[@]} -gt 1 ]]; then
  echo "== $first against ${variants[1]}: time of the first over the second"
  while IFS='|' read -r name options _; do
    read -ra words <<<"$options"
    printf '%-28s ' "$name"
    bin/ferry compare "modules/$first/$name.ferry" "modules/${variants[1]}/$name.ferry" "${words[@]//--fn/--fn-a}" \
      --processes 3 2>&1 | sed -n 's/^ *A \/ B *//p; s/^ferry: //p'
  done <figures.txt
fi

echo "== figures"
: >results/peers.json
bin/gpu_bench --null "modules/$first/nothing.ferry" --json results/peers.json >results/peers.txt 2>&1 || cat results/peers.txt
{
  printf '%-18s %-8s %12s %16s %22s %8s %6s\n' case code time rate peer ratio aim
  while IFS='|' read -r name options counts peer aim; do
    read -ra words <<<"$options"
    peer_value=$(awk -v name="$peer" '$1 == name && $2 != "missing:" { print $2 }' results/peers.txt)
    for variant in "${variants[@]}"; do
      json=results/$name.$variant.json
      if ! bin/ferry bench "modules/$variant/$name.ferry" "${words[@]}" --seed "$seed" --json >"$json" 2>results/run.txt; then
        printf '%-18s %-8s %s\n' "$name" "$variant" "$(tail -1 results/run.txt)"
        rm -f "$json"
        continue
      fi
      awk -v name="$name" -v variant="$variant" -v seconds="$(number "$json" median_seconds)" \
        -v rate="$(number "$json" "${counts}_per_second")" -v counts="$counts" -v peer="$peer_value" -v peer_name="$peer" \
        -v aim="$aim" 'BEGIN {
          unit = counts == "bytes" ? "GB/s" : "TFLOP/s"; rate *= counts == "bytes" ? 1e-9 : 1e-12
          printf "%-18s %-8s %9.4g ms %8.4g %7s ", name, variant, seconds * 1e3, rate, unit
          printf "%22s %8s %6s\n", peer == "" ? peer_name " missing" : sprintf("%.4g", peer),
            peer == "" ? "-" : sprintf("%.3f", rate / peer), aim
        }'
    done
  done <figures.txt
  awk '{ value[$1] = $2 } END {
    if (value["null_call"] + 0 > 0)
      printf "null kernel: %.2f us over RPC; aim 1.5 x %.2f us launched here + %.2f us an empty RPC = %.2f us\n",
        value["null_call"], value["local_null_launch"], value["null_rpc"],
        1.5 * value["local_null_launch"] + value["null_rpc"]
  }' results/peers.txt
} | tee results/figures.txt

# Collects all results in one file.
{
  echo "{\"date\": \"$(date -u +%Y-%m-%d)\", \"checks\": $checks, \"failed\": $failed,"
  echo "\"peers\": $(cat results/peers.json || true | grep . || echo null),"
  echo "\"cases\": {"
  comma=
  for json in results/*.*.json; do
    [[ -f $json ]] || continue
    echo "$comma\"$(basename "$json" .json)\": $(cat "$json")"
    comma=,
  done
  echo "}}"
} >results/figures.json
echo "results/figures.txt and results/figures.json"
exit $((failed > 0))
