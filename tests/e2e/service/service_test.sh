#!/usr/bin/env bash
# service_test.sh RPC_SERVER FERRY: tests that the systemd unit is well-formed and as restrictive as docs/security.md
# says, and that a server works with exactly its options and capabilities.
set -euo pipefail
server=$1 ferry=$2
unit=packaging/systemd/rpc_server.service
work=$(mktemp -d /tmp/ferry-service-XXXXXX)
process=
finish() {
  [[ -z $process ]] || { kill "$process" && wait "$process" || true; }
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "$*" >&2; exit 1; }

command -v systemd-analyze >/dev/null || fail "expected systemd-analyze: run scripts/setup.sh"
sed "s|/usr/local/bin/rpc_server|$server|" "$unit" >"$work/rpc_server.service"
systemd-analyze verify --man=no "$work/rpc_server.service" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
# Only messages about this unit count; the machine's other units are not under test.
! grep rpc_server "$work/said" || fail "expected systemd-analyze verify to say nothing"
# 2.9 with a SystemCallFilter, which the unit leaves to the sessions' own filters. All else is as restrictive.
systemd-analyze security --offline=yes --threshold=41 "$work/rpc_server.service" >"$work/said" 2>&1 ||
  { tail -1 "$work/said"; fail "expected an exposure of at most 4.1"; }
exposure=$(sed -n 's/.*Overall exposure level for rpc_server.service: \([0-9.]*\).*/\1/p' "$work/said")
grep -q "rates it $exposure," docs/security.md || fail "docs/security.md does not say that the exposure is $exposure"
systemd-sysusers --dry-run "$PWD"/packaging/systemd/rpc_server.sysusers >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }

[[ $(id -u) == 0 ]] || { echo "the unit was read; not root, so that no server was started with it"; exit 0; }

# Run the ExecStart command on loopback and in temporary folders, with the capabilities that the unit leaves.
mkdir -m 700 "$work/state" "$work/state/keys"
mkdir -m 711 "$work/cache"
chmod 711 "$work"
options=$(sed -n '/^ExecStart=/,/[^\\]$/p' "$unit" | tr -d '\\\n' | sed 's/^ExecStart=[^ ]*//')
options=${options/--host 0.0.0.0/--host 127.0.0.1}
options=${options/--user ferry/--user nobody}
options=${options//\/var\/lib\/rpc_server/$work/state}
options=${options//\/var\/cache\/rpc_server/$work/cache}
left=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr A-Z a-z | sed 's/cap_/+/g; s/ /,/g')
umask 077
# shellcheck disable=SC2086
setpriv --bounding-set "-all,$left" --inh-caps -all --no-new-privs "$server" --port 0 --call-deadline 1 $options \
  >"$work/out" 2>"$work/errors" &
process=$!
for _ in $(seq 100); do
  grep -q listening "$work/out" && break
  kill -0 "$process" 2>/dev/null || { cat "$work/errors"; fail "the server did not start"; }
  sleep 0.1
done
address=$(sed -n 's/^rpc_server listening on //p' "$work/out")
for round in 1 2; do
  "$ferry" run -e 'def twice(float32(N) A) -> (B) { B(i) = 2 * A(i) }' --arg A=f32[3]:iota --remote "$address" \
    --key-file "$work/state/keys/default.key" >"$work/got" 2>&1 || { cat "$work/got" "$work/errors"; exit 1; }
  head -n 2 "$work/got" | diff - <(printf 'B = f32[3]\n[0. 2. 4.]\n') || fail "round $round went wrong"
done
# A kernel that computes for too long is ended, although its process belongs to another user.
! timeout 20 "$ferry" run -e 'def slow(float32(N) A) -> (B) { B(i) +=! A((i*7+j*k)%N) where i in 0:N, j in 0:1000000, k in 0:1000000 }' \
  --schedule none --arg A=f32[3]:iota --remote "$address" --key-file "$work/state/keys/default.key" >"$work/got" 2>&1 ||
  fail "expected a call of hours to be stopped"
grep -q "the limit of a call is 1.0 s" "$work/got" || { cat "$work/got"; exit 1; }
[[ -n $(ls "$work/cache/modules") ]] || fail "expected modules to be kept in $work/cache/modules"
for _ in $(seq 100); do
  compgen -G "$work/cache/session-*" >/dev/null || break
  sleep 0.1
done
! compgen -G "$work/cache/session-*" || fail "expected the folders of sessions to be removed"
[[ $(stat -c '%u %a' "$work/state/keys/default.key") == "0 600" ]] || fail "expected a key that only root reads"
