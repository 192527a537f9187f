#!/usr/bin/env bash
# Makes the packages in dist/: the wheels, an archive that runs from any folder, and Debian packages of ferry and of
# rpc_server. Run scripts/build.sh before.
#
#   scripts/package.sh [wheel] [client] [archive] [deb]       (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."

[[ -x build/release/bin/ferry_packaged ]] || { echo "expected a build: run scripts/build.sh" >&2; exit 1; }
scripts/python_headers.sh
exec build/venv/bin/python packaging/packages.py "$@"
