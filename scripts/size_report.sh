#!/usr/bin/env bash
# Prints the size of every rpc_server in build/device. With --gate it exits with 1 if one is missing or not smaller than
# the limit.
#
#   scripts/size_report.sh [--gate]
set -euo pipefail
cd "$(dirname "$0")/.."
limit=985000  # 15 KB below what is promised, so that a late correction fits
gate=${1:-}
failed=0

printf '%-12s %-9s %10s  %s\n' architecture flavour bytes "limit $limit"
for arch in x86_64 armv7 aarch64 riscv64; do
  for flavour in dynamic static; do
    file=build/device/$arch/$flavour/rpc_server
    if [[ ! -f $file ]]; then
      bytes=-
      verdict="not built: run scripts/build.sh"
      failed=1
    else
      bytes=$(stat -c %s "$file")
      if ((bytes < limit)); then
        verdict="$((bytes * 100 / limit))%"
      else
        verdict="TOO LARGE by $((bytes - limit + 1))"
        failed=1
      fi
    fi
    printf '%-12s %-9s %10s  %s\n' "$arch" "$flavour" "$bytes" "$verdict"
  done
done
[[ $gate != --gate ]] || exit $failed
