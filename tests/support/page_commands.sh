# For tests that run the commands of a page of docs/ as a reader would. To be sourced, under `set -euo pipefail`.
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/wait_for.sh"

# Makes a fresh folder with ferry in PATH, the repository's build/ and examples/, and no settings of the user; enters it,
# and removes it at the end with the programs that were started. Sets `work`.
#
#   enter_fresh_folder SOURCE FERRY
enter_fresh_folder() {
  local source=$1 ferry=$2
  work=$(mktemp -d)
  trap leave_folder EXIT
  cd "$work"
  ln -s "$source/build" build
  ln -s "$source/examples" examples
  mkdir -p bin config/ferry run
  ln -s "$ferry" bin/ferry
  export PATH=$work/bin:$PATH XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run USER=${USER:-reader}
  unset FERRY_FARM FERRY_KEY_FILE FERRY_REMOTE FERRY_DEVICES FERRY_GATE_STORE
}

leave_folder() {
  # Only what this shell has started.
  jobs -p | xargs -r kill 2>/dev/null || true
  wait
  rm -rf "$work"
}

# free_ports COUNT prints ports of which nobody makes use at the moment.
free_ports() {
  python3 - "$1" <<'P'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in sockets: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))
P
}

# indented_lines PAGE FROM TO prints the indented lines between two headings of a page, without the indentation.
indented_lines() { sed -n "/^## $2/,/^## $3/p" "$1" | sed -n 's/^    //p'; }
