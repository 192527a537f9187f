#!/usr/bin/env bash
# Formats every C++ file according to .clang-format. With --check it changes nothing and fails if a file is not
# formatted.
#
#   scripts/format.sh [--check]
set -euo pipefail
cd "$(dirname "$0")/.."

folders=()
for folder in include base module rpc device-runtime crosscompile host farm tests bench examples; do
  [[ -d $folder ]] && folders+=("$folder")
done
mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run -Werror --ferror-limit=1)
elif [[ $# -gt 0 ]]; then
  echo "usage: scripts/format.sh [--check]" >&2
  exit 2
fi
# The version is fixed, because another one would format some files differently.
find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' \) -print0 |
  xargs -0 -r -n 40 -P "$(nproc)" clang-format-19 "${mode[@]}" || {
  [[ ${1:-} == --check ]] && echo "run scripts/format.sh"
  exit 1
}
