#!/usr/bin/env bash
# Compiles every example on every target with the compiler of another commit and with that of this tree, byte by byte,
# and names the modules that differ, and their parts:
#
#   scripts/compare_compilers.sh BASE [--modules FOLDER]      (HEAD for what is not committed yet)
#
# --modules also writes the modules of this tree into the folder. The exit code is 1 if any differ. The other commit is built
# in build/compare, with ccache in a few minutes, and its records are kept there. It must have this script's program,
# golden_modules.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ $# -lt 1 ]]; then
  echo "expected a commit, got nothing: scripts/compare_compilers.sh BASE" >&2
  exit 2
fi
base=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "expected a commit, got '$1'" >&2; exit 2; }
shift
git cat-file -e "$base:tests/golden/examples/compare/golden_modules.cpp" 2>/dev/null ||
  { echo "commit ${base:0:8} has no golden_modules: expected a later one" >&2; exit 2; }

# Builds golden_modules of the tree in this folder.
build() (
  cd "$1"
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  cmake --preset release >/dev/null
  cmake --build --preset release --target golden_modules | grep -E 'error|FAILED' || true
  [[ -x build/release/tests/golden/examples/golden_modules ]] || { echo "$1 does not build" >&2; exit 2; }
)

records=build/compare/${base:0:12}.txt
mkdir -p build/compare
if [[ ! -f $records ]]; then
  echo "building commit ${base:0:8}"
  tree=build/compare/tree
  if [[ -e $tree/.git ]]; then
    git -C "$tree" checkout --quiet --detach "$base"
  else
    git worktree add --quiet --force --detach "$tree" "$base"
  fi
  mkdir -p "$tree/build"
  for part in venv libsodium; do ln -sfn "$PWD/build/$part" "$tree/build/$part"; done
  build "$tree"
  (cd "$tree" && build/release/tests/golden/examples/golden_modules "$OLDPWD/$records.new")
  mv "$records.new" "$records"
fi
echo "building this tree"
build .
exec build/release/tests/golden/examples/golden_modules build/compare/now.txt --against "$records" "$@"
