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
if [[ $# -gt 0 && $1 != --check ]]; then
  echo "usage: scripts/format.sh [--check]" >&2
  exit 2
fi
files() { find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' \) -print0; }

# The version is fixed, because another one would format some files differently.
if [[ $# -eq 0 ]]; then
  files | xargs -0 -r -n 40 -P "$(nproc)" clang-format-19 -i
  exit
fi

# The sums of files that were checked before, by the same rules, are kept: only the others are checked.
rules=$({ cat .clang-format && clang-format-19 --version; } | sha256sum | cut -c1-16)
kept=build/formatted-$rules
now=$(mktemp)
trap 'rm -f "$now"' EXIT
mkdir -p build
touch "$kept"
files | xargs -0 -r sha256sum | LC_ALL=C sort >"$now"
LC_ALL=C comm -13 "$kept" "$now" | cut -c67- | tr '\n' '\0' |
  xargs -0 -r -n 40 -P "$(nproc)" clang-format-19 --dry-run -Werror --ferror-limit=1 || {
  echo "run scripts/format.sh"
  exit 1
}
cp "$now" "$kept"
