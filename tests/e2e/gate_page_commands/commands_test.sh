#!/usr/bin/env bash
# Runs the commands of docs/gate.md in order, as they stand there, but for ports: on this machine, on boards of a farm and
# on an emulated board. Checks that all options and keys that the page names exist.
#
#   commands_test.sh SOURCE FERRY PLUGIN ROUNDS      SOURCE has build/device
#
# ROUNDS replaces the 4000 rounds of the page's kernel to make it slower: 4120, as the page says, or more on a busy machine.
set -euo pipefail
source=$1 ferry=$2 plugin=$3 rounds=$4
. "$source/tests/support/page_commands.sh"
enter_fresh_folder "$source" "$ferry"
unset GITHUB_SHA CI_COMMIT_SHA GIT_COMMIT
page=$source/docs/gate.md
read -r tracker emulated < <(free_ports 2)

fail() {
  echo "$1; the output of the last command:"
  cat output 2>/dev/null
  exit 1
}

# Runs a line of the page and expects an exit code. On a machine that is too busy to tell, a run tries again.
#
#   expect CODE LINE
expect() {
  local code
  for _ in 1 2 3; do
    code=0
    eval "$2" >output 2>&1 || code=$?
    if [[ $code != 5 || $1 == 5 ]]; then break; fi
  done
  if [[ $code != "$1" ]]; then fail "$2: expected exit code $1, got $code"; fi
}
expect_text() { grep -q -e "$1" output || fail "expected '$1'"; }

# take PATTERN FILE prints the only line of the file that matches.
take() {
  [[ $(grep -c -e "$1" "$2") == 1 ]] || { echo "$page: expected one command '$1', got:" >&2; cat "$2" >&2; exit 1; }
  grep -e "$1" "$2"
}

# Options and keys.
for command in "" init history bisect calibrate forget; do ferry gate $command --help; done >help
for option in $(grep -o -e '--[a-z][a-z-]*' "$page" | sort -u); do
  case $option in --port) continue ;; esac  # rpc_server's
  grep -q -e "$option\b" help || fail "$page names $option, which no help of 'ferry gate' does"
done

# From kernels to a red build.
indented_lines "$page" "From kernels" "The suite" >all
mkdir kernels
sed '/^ferry/,$d' all >kernels/spin.c
grep '^ferry' all >commands
first=$(take 'suite.toml  *# the first run' commands)
expect 0 "$(take 'gate init' commands)"
GIT_COMMIT=aaa111 expect 0 "$first"
expect_text '^first  *spin'
GIT_COMMIT=aaa222 expect 0 "$first"
expect_text '^unchanged  *spin'
slower=$(take '--junit' commands)
sed -i "s/4000/$rounds/" kernels/spin.c
GIT_COMMIT=bbb111 expect 1 "$slower"
expect_text '^slower  *spin .*+[1-9]'
grep -q '<failure message="slower: ' out.xml || fail "expected a failure in out.xml"
grep -q "r &lt; $rounds" gate.html || fail "expected the difference of the sources in gate.html"
sed -i "s/$rounds/4000/" kernels/spin.c
GIT_COMMIT=ccc111 expect 0 "$slower"

# What the store knows. The commits are labels of the runs above.
indented_lines "$page" "The store" "nowhere" >store
expect 0 "$(take 'history spin  *#' store)"
expect_text 'bbb111'
expect 0 "$(take 'history .*--html' store)"
grep -q '<svg' spin.html || fail "expected a chart in spin.html"
expect 0 "$(take bisect store | sed 's/GOOD/aaa1/; s/BAD/bbb1/')"
expect_text 'bbb111 is the first slower one, after aaa'

# A farm with two boards of a kind.
printf '[health]\nchecks = false\n' >farm.toml
ferry farm serve --listen "127.0.0.1:$tracker" --database farm.db --config farm.toml >tracker.log 2>&1 &
wait_for "the tracker" test -s farm.admin.key
printf '[lab]\nfarm = "127.0.0.1:%s"\nkey = "%s"\n' "$tracker" "$work/farm.admin.key" >config/ferry/devices.toml
wait_for "the tracker's port" ferry farm devices
for board in pi-1 pi-2; do
  ferry farm enrol $board --tag rpi4 --share-machine --output $board.key >/dev/null 2>&1
  mkdir -m 700 $board
  build/device/x86_64/static/rpc_server --port 0 --farm "127.0.0.1:$tracker" --farm-key $board.key --workdir $board \
    >$board.log 2>&1 &
done
are_there() { [[ $(ferry farm devices --json | grep -c '"connected": *true') == 2 ]]; }
wait_for "two boards" are_there
mv .ferry-gate folder
GIT_COMMIT=ddd111 expect 0 "$(take '--baseline main' commands)"
expect_text '^first  *spin  *lab/pi-'
GIT_COMMIT=eee111 expect 0 "$(take 'rpi4 --remote' commands)"
expect_text '^unchanged  *spin  *lab/pi-'
expect 0 "$(take 'history .*--store' store)"
expect_text 'ddd111'
expect_text 'eee111'
# A board that cannot be had is nobody's mistake in a case, and is said once.
expect 3 "ferry gate suite.toml --remote farm://lab/no-such-board --junit out.xml"
expect_text 'No board could measure all cases: 1 infrastructure'
[[ $(grep -c 'ferry: .*no-such-board' output) == 1 ]] || fail "expected one sentence about the board"
grep -q '<error message="infrastructure: ' out.xml || fail "expected an error in out.xml"
ferry farm enrol --client eve --role viewer --output eve.key >/dev/null 2>&1
expect 3 "ferry gate suite.toml --remote farm://lab/rpi4 --key-file eve.key"
expect_text 'this key is for viewers, who get no boards'
[[ ! -e .ferry-gate ]] || fail "expected the farm to keep everything, got a folder .ferry-gate"

# The suite of the page, with every key that its text names, at smaller sizes.
indented_lines "$page" "The suite" "Verdicts" >page.toml
cp "$source/examples/kernels/mm.tc" kernels/mm.tc
echo "C: reorder m k n" >kernels/mm.schedule
sed -n '/^## The suite/,/^## Verdicts/p' "$page" | grep -v '^    ' >prose
{ echo 'name = "page"'; sed 's/=512/=64/g' page.toml; } >named.toml
for key in $(grep -o '`[a-z-]* = [^`]*`\|`[a-z]*`' prose | tr -d '`' | sed 's/ =.*//' | sort -u); do
  case $key in
    name) ;;
    was) ;;
    allow-difference) echo 'allow-difference = true' >>named.toml ;;
    thorough) echo 'thorough = true' >>named.toml ;;
    records) echo 'records = "tuned.jsonl"' >>named.toml; : >tuned.jsonl ;;
    rtol | atol) echo "$key = 1e-4" >>named.toml ;;
    *) fail "$page names the key '$key', which this test does not know" ;;
  esac
done
code=0
ferry gate named.toml >output 2>&1 || code=$?
# Its absolute limits are those of some board.
[[ $code == 0 || $code == 1 ]] || fail "the suite of the page: expected exit code 0 or 1, got $code"
grep -q '^\(first\|over limit\)  *mm .*lab/pi-' output || fail "expected the case mm on a board of the farm"

# An emulated board.
indented_lines "$page" "How the gate decides" "Reports" | sed "s/9091/$emulated/" >board
sed '/^ferry/,$d; s|build/release/lib/libferry_instructions.so|'"$plugin"'|' board >start
grep -q "$plugin" start
. ./start >board.log 2>&1
wait_for "the emulated board" ferry device --remote "127.0.0.1:$emulated"
gate=$(take '^ferry gate' board)
expect 0 "$gate"
sed -i s/4000/4120/ kernels/spin.c
expect 1 "$gate"
expect_text '^slower  *spin .*+3.00% instructions'
sed -i s/4120/4020/ kernels/spin.c
expect 0 "$gate"
expect_text '^no change  *spin'
echo "every command of the page works"
