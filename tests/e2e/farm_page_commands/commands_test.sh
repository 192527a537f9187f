#!/usr/bin/env bash
# Runs the commands with which docs/farm.md takes a reader from nothing to a farm, as they stand there, but for the ports,
# which are free ones, and the path of the key.
#
#   commands_test.sh SOURCE FERRY      SOURCE has build/device
set -euo pipefail
source=$1 ferry=$2
. "$source/tests/support/page_commands.sh"
enter_fresh_folder "$source" "$ferry"
read -r tracker page < <(free_ports 2)

# The indented lines of the first section. The entry of devices.toml is among them.
indented_lines "$source/docs/farm.md" "From nothing" "Getting boards" |
  sed "s/9191/$tracker/g; s/8080/$page/g; s|/path/to/|$work/|; s/farm serve/& --listen 127.0.0.1:$tracker/" >all
sed -n '/^\[lab\]/,/^key/p' all >config/ferry/devices.toml
[[ $(wc -l <config/ferry/devices.toml) == 3 ]] || { echo "expected an entry of three lines, got:"; cat all; exit 1; }
sed '/^\[lab\]/,/^key/d' all >commands
grep -q 'ferry farm serve' commands && grep -q 'ferry bench' commands && grep -q 'ferry farm token' commands

are_good() { [[ $(ferry farm devices --json | grep -c '"state": *"good"') == 2 ]]; }

# Splits the commands where a reader would wait.
sed '/ferry farm serve/q' commands >start
sed '1,/ferry farm serve/d; /^ferry bench/,$d' commands >boards
sed -n '/^ferry bench/,$p' commands >use
. ./start
wait_for "the tracker" test -s lab/farm.admin.key
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
