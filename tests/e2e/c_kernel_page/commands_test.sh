#!/usr/bin/env bash
# Runs the commands of docs/c_kernel.md in order, as they stand there, with the files that the page shows, but for a port,
# a board that ssh reaches, and the repetitions of measurements.
#
#   commands_test.sh SOURCE FERRY      SOURCE has build/device
set -euo pipefail
source=$1 ferry=$2
. "$source/tests/support/page_commands.sh"
enter_fresh_folder "$source" "$ferry"
page=$source/docs/c_kernel.md
port=$(free_ports 1)

fail() {
  echo "$1; the output of the last command:"
  cat output 2>/dev/null
  exit 1
}

# Runs a line of the page and expects an exit code.
expect() {
  local code=0
  eval "$2" >output 2>&1 || code=$?
  if [[ $code != "$1" ]]; then fail "$2: expected exit code $1, got $code"; fi
}

# section FROM TO prints the indented lines between two headings: a file, then commands.
section() { indented_lines "$page" "$1" "$2"; }
is_command='^\(ferry\|gcc\|qemu\)'
file_of() { section "$1" "$2" | sed "/$is_command/,\$d"; }
commands_of() { section "$1" "$2" | grep "$is_command" | sed "s/9091/$port/"; }
# run_all FROM TO runs the commands of a section.
run_all() {
  local line count=0
  while read -r line; do
    case $line in
      *ssh://*) continue ;;
      *'&') eval "${line%&} >board.log 2>&1 &"; wait_for "the emulated board" ferry device -r "127.0.0.1:$port" ;;
      *) expect 0 "$line" ;;
    esac
    count=$((count + 1))
  done < <(commands_of "$1" "$2")
  [[ $count -ge $3 ]] || fail "section '$1': expected at least $3 commands, got $count"
}

file_of "The first time" "Is it right" >fir.c
file_of "Is it right" "A faster version" >fir.tc
file_of "A faster version" "On a board" >fir4.c
run_all "The first time" "Is it right" 1
run_all "Is it right" "A faster version" 2

# The mistake that the page suggests.
mkdir broken
sed 's/k < taps/k <= taps/' fir.c >broken/fir.c
while read -r line; do
  expect 1 "${line/fir.c/broken/fir.c}"
  grep -q 'fir.c:[67]' output || fail "expected the line of the mistake"
done < <(commands_of "Is it right" "A faster version")

run_all "A faster version" "On a board" 2
run_all "On a board" "The object" 2
run_all "The object" "It stays fast" 6
mkdir kernels
cp fir.c fir4.c fir.tc kernels
cd kernels
run_all "It stays fast" "The signature" 2
grep -q 'Passed: 3 first' output || fail "expected three cases"
grep -q '^# .* a call$' suite.toml || fail "expected the time of a call in the suite"
cd ..

echo 'void saxpy(float a, const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] += a * x[i]; }' >saxpy.c
run_all "The signature" "Languages" 1
echo "every command of the page works"
