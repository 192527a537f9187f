#!/usr/bin/env bash
# Runs the fuzzer: scripts/fuzz.sh --minutes N [--seed S] [--cases N] [--tries N] [--refusals]. The last line counts the
# cases and the failures. Each failure is reduced, in at most --tries attempts, and printed as a test. --refusals lists
# the messages with which directives were refused.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release > /dev/null
cmake --build --preset release --target fuzz > /dev/null
exec build/release/tests/fuzz/long/fuzz "$@"
