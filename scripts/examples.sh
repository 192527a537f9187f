#!/usr/bin/env bash
# Prints the loops of every scheduled example, and its time compared with serial loops and ferry's default schedule. All
# results are checked against the definition. Run scripts/build.sh once before.
#
#   scripts/examples.sh [NAME...]      names of examples/NAME.schedule or examples/NAME.cpp; default: all
#   FERRY_REMOTE=HOST:PORT             times the examples on that device
set -euo pipefail
cd "$(dirname "$0")/.."
ferry=${FERRY:-build/release/bin/ferry}

# Prints the words after KEY in a schedule's line "# KEY ...".
line_of() { sed -n "s/^# $2 //p" "$1"; }

median_of() {
  "$ferry" bench "$@" --no-peak --repeat 10 --json | sed -n 's/.*"median_seconds": \([0-9.e+-]*\).*/\1/p'
}

if [[ $# -eq 0 ]]; then
  for file in examples/*.schedule examples/*.cpp; do set -- "$@" "$(basename "${file%.*}")"; done
fi
for name in "$@"; do
  if [[ -f examples/$name.cpp ]]; then
    echo "== $name"
    sed -n '1s|^// ||p' "examples/$name.cpp"
    echo
    "$(dirname "$ferry")/examples/$name"
    echo
    continue
  fi
  schedule=examples/$name.schedule kernel=examples/${name%%.*}.tc
  [[ -f $schedule ]] || { echo "there is no $schedule" >&2; exit 2; }
  read -ra sizes <<<"$(line_of "$schedule" run)"
  mapfile -t knobs < <(line_of "$schedule" knob | sed 's/^/--knob=/')
  echo "== $name"
  sed -n '1s/^# //p' "$schedule"
  echo
  read -r target <<<"$(line_of "$schedule" target)" || true
  device=()
  [[ -z $target ]] || device=(--target "$target")
  compiled=()  # the options that select what is compiled
  for ((i = 0; i + 1 < ${#sizes[@]}; i += 2)); do
    [[ ${sizes[i]} != --fn && ${sizes[i]} != --fix ]] || compiled+=("${sizes[@]:i:2}")
  done
  "$ferry" compile "$kernel" "${compiled[@]}" --schedule "$schedule" "${knobs[@]}" "${device[@]}" --emit lower
  echo
  "$ferry" run "$kernel" "${sizes[@]}" --schedule "$schedule" "${knobs[@]}" "${device[@]}" --check | grep '^check'
  # Serial loops would occupy a GPU for minutes, so on GPUs only ferry's default schedule is compared.
  none=0
  [[ -n $target ]] || none=$(median_of "$kernel" "${sizes[@]}" --schedule none)
  default=$(median_of "$kernel" "${sizes[@]}" "${device[@]}")
  scheduled=$(median_of "$kernel" "${sizes[@]}" --schedule "$schedule" "${knobs[@]}" "${device[@]}")
  awk -v n="$none" -v d="$default" -v s="$scheduled" -v sizes="${sizes[*]}" 'BEGIN {
    if (n == 0) {
      printf "times  %s: ferry'\''s own schedule %.3f ms, this one %.3f ms (%.1f times as fast)\n\n",
        sizes, d * 1e3, s * 1e3, d / s
      exit
    }
    printf "times  %s: serial loops %.3f ms, ferry'\''s own schedule %.3f ms (%.1f times as fast), this one %.3f ms (%.1f)\n\n",
      sizes, n * 1e3, d * 1e3, n / d, s * 1e3, n / s }'
done
