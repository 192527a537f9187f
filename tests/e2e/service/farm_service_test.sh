#!/usr/bin/env bash
# farm_service_test.sh FERRY: tests that the systemd unit of a farm's tracker is well-formed, confined, and has the folders
# and the user that its command names.
set -euo pipefail
ferry=$1
unit=packaging/systemd/ferry-farm.service
work=$(mktemp -d /tmp/ferry-service-XXXXXX)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

command -v systemd-analyze >/dev/null || fail "expected systemd-analyze: run scripts/setup.sh"
sed "s|/usr/local/bin/ferry|$ferry|" "$unit" >"$work/ferry-farm.service"
systemd-analyze verify --man=no "$work/ferry-farm.service" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
# Only messages about this unit count; the machine's other units are not under test.
! grep ferry-farm "$work/said" || fail "expected systemd-analyze verify to say nothing"
systemd-analyze security --offline=yes --threshold=15 "$work/ferry-farm.service" >"$work/said" 2>&1 ||
  { tail -1 "$work/said"; fail "expected an exposure of at most 1.5"; }

value() { sed -n "s/^$1=//p" "$unit"; }
systemd-sysusers --dry-run "$PWD"/packaging/systemd/ferry-farm.sysusers >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
grep -q "^u $(value User) " packaging/systemd/ferry-farm.sysusers ||
  fail "expected the user $(value User) in ferry-farm.sysusers"

command=$(sed -n '/^ExecStart=/,/[^\\]$/p' "$unit" | tr -d '\\\n' | sed 's/^ExecStart=//')
[[ $command == "/usr/local/bin/ferry farm serve "* ]] || fail "expected ferry farm serve, got $command"
for folder in $(value StateDirectory); do echo "/var/lib/$folder"; done >"$work/folders"
echo "/etc/$(value ConfigurationDirectory)" >>"$work/folders"
for word in $command; do
  [[ $word == /var/* || $word == /etc/* ]] || continue
  grep -qxF "$(dirname "$word")" "$work/folders" || fail "expected a folder for $word among: $(xargs <"$work/folders")"
done
# A copy of the database must not come with the keys.
option() { grep -o -- "--$1 [^ ]*" <<<"$command" | cut -d ' ' -f 2; }
[[ $(dirname "$(option database)") != "$(dirname "$(option key-file)")" ]] ||
  fail "expected database and keys in different folders"
