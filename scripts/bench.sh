#!/usr/bin/env bash
# Measures what calls, transfers and compiling cost, and prints a table. Every ratio comes from one run in which both sides take turns.
#
#   scripts/bench.sh [--json FILE]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh >&2
echo "$(uname -m), $(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), Linux $(uname -r), $(date +%F)"
echo
exec build/release/bench/rpc/ferry_rpc_bench build/release/bin/ferry build/device/"$(uname -m)"/dynamic/rpc_server "$@"
