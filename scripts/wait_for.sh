# To be sourced by scripts that start servers.

# wait_for WHAT COMMAND... runs the command until it succeeds, for at most two minutes.
wait_for() {
  local what=$1
  shift
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  echo "$what: not within two minutes" >&2
  return 1
}
