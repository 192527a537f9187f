#!/usr/bin/env bash
# Starts a farm on this machine: a tracker with its page, and two emulated boards. Enrols both, runs and checks a kernel
# on each, shows what the farm knows, and what happens to the lease of a command that is killed. Exits with a non-zero
# status if something is wrong. scripts/demo.sh --farm sets up and builds before.
#
#   scripts/demo_farm.sh [--keep]     --keep leaves the farm running until Enter is pressed
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
ferry=$root/build/release/bin/ferry
. scripts/wait_for.sh

work=$(mktemp -d)
running=()
stop() {
  if [[ $? != 0 && -s tracker.log ]]; then cat tracker.log >&2; fi
  for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap stop EXIT
cd "$work"
export XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run
mkdir -p config/ferry run

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "The tracker"
"$ferry" farm serve --listen 127.0.0.1:0 --http 127.0.0.1:0 2>tracker.log &
running+=($!)
wait_for "the tracker" test -s farm.admin.key
tracker=$(sed -n 's/.* tracker at \([^,]*\),.*/\1/p' tracker.log)
page=$(sed -n 's/.* page at //p' tracker.log)
printf '[lab]\nfarm = "%s"\nkey = "%s"\n' "$tracker" "$work/farm.admin.key" >config/ferry/devices.toml
echo "at $tracker, its page at $page"

# add BOARD EMULATOR ARCH
# Boards on one machine exclude each other otherwise.
add() {
  "$ferry" farm enrol "$1" --tag demo --share-machine --output "$1.key" >/dev/null
  mkdir "$1"
  "$2" "$root/build/device/$3/static/rpc_server" --port 0 --quiet --farm "$tracker" --farm-key "$1.key" --workdir "$1" \
    >"$1.log" 2>&1 &
  running+=($!)
}
say "Two emulated boards join and are checked"
add emu-arm qemu-aarch64 aarch64
add emu-riscv qemu-riscv64 riscv64
is_good() { "$ferry" farm devices "$1" --json | grep -q '"state": *"good"'; }
wait_for "emu-arm" is_good emu-arm
wait_for "emu-riscv" is_good emu-riscv
"$ferry" farm devices

say "A kernel on each: --remote farm://lab/SELECTOR"
for selector in emu-arm arch=riscv64; do
  "$ferry" run "$root/examples/kernels/softmax.tc" --size N=31,M=1001 --check --remote "farm://lab/$selector"
done

say "A command that is killed leaves nothing locked"
"$ferry" farm exec tag:demo -- sleep 60 &
victim=$!
is_leased() { "$ferry" farm leases | grep -q attached; }
wait_for "the lease" is_leased
"$ferry" farm leases
kill -9 "$victim"
wait "$victim" 2>/dev/null || true
is_free() { ! is_leased; }
wait_for "the board" is_free
"$ferry" farm leases
say "What has happened"
"$ferry" farm history

token=$("$ferry" farm token "${USER:-you}" --role admin)
if [[ ${1:-} == --keep ]]; then
  say "Open $page and log in with $token. Enter ends the farm."
  read -r
fi
