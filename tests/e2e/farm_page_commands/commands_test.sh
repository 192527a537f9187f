#!/usr/bin/env bash
# Runs the commands with which docs/farm.md takes a reader from nothing to a farm, as they stand there, but for the ports,
# which are free ones, and the path of the key.
#
#   commands_test.sh SOURCE FERRY      SOURCE has build/device
set -euo pipefail
source=$1 ferry=$2
work=$(mktemp -d)
stop() {
  # Only what this shell has started.
  jobs -p | xargs -r kill 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap stop EXIT
cd "$work"
ln -s "$source/build" build
ln -s "$source/examples" examples
mkdir -p bin config/ferry run
ln -s "$ferry" bin/ferry
export PATH=$work/bin:$PATH XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run USER=${USER:-reader}
unset FERRY_FARM FERRY_KEY_FILE FERRY_REMOTE FERRY_DEVICES

read -r tracker page < <(python3 - <<'P'
import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))
P
)

# The indented lines of the first section. The entry of devices.toml is among them.
sed -n '/^## From nothing/,/^## Getting boards/p' "$source/docs/farm.md" | sed -n 's/^    //p' |
  sed "s/9191/$tracker/g; s/8080/$page/g; s|/path/to/|$work/|; s/farm serve/& --listen 127.0.0.1:$tracker/" >all
sed -n '/^\[lab\]/,/^key/p' all >config/ferry/devices.toml
[[ $(wc -l <config/ferry/devices.toml) == 3 ]] || { echo "expected an entry of three lines, got:"; cat all; exit 1; }
sed '/^\[lab\]/,/^key/d' all >commands
grep -q 'ferry farm serve' commands && grep -q 'ferry bench' commands && grep -q 'ferry farm token' commands

# wait_for WHAT COMMAND...
wait_for() {
  local what=$1
  shift
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  echo "$what: not within two minutes"
  return 1
}
are_good() { [[ $(ferry farm devices --json | grep -c '"state": *"good"') == 2 ]]; }

# Splits the commands where a reader would wait.
sed '/ferry farm serve/q' commands >start
sed '1,/ferry farm serve/d; /^ferry bench/,$d' commands >boards
sed -n '/^ferry bench/,$p' commands >use
. ./start
wait_for "the tracker" test -s farm/farm.admin.key
wait_for "the tracker's port" ferry farm devices
. ./boards
wait_for "two boards that have passed their check" are_good
. ./use | tee output
grep -q riscv64 output || { echo "expected ferry device to show the riscv64 board"; exit 1; }
grep -q '^ferry_[0-9a-f]\{48\}$' output || { echo "expected a token"; exit 1; }
token=$(grep -m 1 '^ferry_[0-9a-f]' output)
boards=$(python3 - "$token" "$page" <<'P'
import sys, urllib.request
url = f"http://127.0.0.1:{sys.argv[2]}/api/v1/boards"
request = urllib.request.Request(url, headers={"Authorization": "Bearer " + sys.argv[1]})
print(urllib.request.urlopen(request).read().decode())
P
)
[[ $boards == *emu-arm* && $boards == *emu-riscv* ]] || { echo "expected both boards, got: $boards"; exit 1; }
echo "every command of the page works"
