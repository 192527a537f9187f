#!/usr/bin/env bash
# Builds the small static libsodium that ferry and rpc_server link, from Debian's source package, into
# build/libsodium/ARCH, unless it is already there. Debian's binary packages are unsuitable: there is none for riscv64,
# and the full library is larger than the rest of rpc_server.
#
#   scripts/libsodium.sh [x86_64|armv7|aarch64|riscv64 ...]      (default: all four)
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/source_package.sh
out=$PWD/build/libsodium
flags="-Os -fPIC -ffunction-sections -fdata-sections -fvisibility=hidden"
recipe="3 $flags"  # increment the number to force a rebuild everywhere

stale=()
for arch in "${@:-x86_64 armv7 aarch64 riscv64}"; do
  for a in $arch; do
    [[ -e $out/$a/lib/libsodium.a && $(cat "$out/$a/recipe" 2>/dev/null) == "$recipe" ]] || stale+=("$a")
  done
done
[[ ${#stale[@]} -gt 0 ]] || exit 0

mkdir -p "$out"
exec 9>"$out/lock"
flock 9
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

fetch() {
  fetch_source libsodium "$work"
  (cd "$work"/src/libsodium-*/ && autoreconf -fi)
  (cd "$work"/src/libsodium-*/src/libsodium && leave_out)
}

# Removes code that a table or an initialisation call would link although ferry does not use it, 42 KB in total: the
# multiplication of the base point by a table (ferry uses the general multiplication), and the selection of Argon2 and
# Salsa20 implementations.
leave_out() {
  sed -i 's/\.mult_base =) crypto_scalarmult_curve25519_ref10_base$/.mult_base =) 0/' \
    crypto_scalarmult/curve25519/ref10/x25519_ref10.c
  sed -i '/_crypto_pwhash_argon2_pick_best_implementation();/d; /_crypto_stream_salsa20_pick_best_implementation();/d' \
    sodium/core.c
  grep -q 'mult_base =) 0' crypto_scalarmult/curve25519/ref10/x25519_ref10.c
}

build() {
  local arch=$1 triple
  case $arch in
    x86_64) triple=x86_64-linux-gnu ;;
    armv7) triple=arm-linux-gnueabihf ;;
    aarch64) triple=aarch64-linux-gnu ;;
    riscv64) triple=riscv64-linux-gnu ;;
    *) echo "expected x86_64, armv7, aarch64 or riscv64, got '$arch'" >&2; exit 2 ;;
  esac
  mkdir "$work/$arch"
  cd "$work/$arch"
  # --host, even for the machine's own architecture, keeps configure from trying to run what it builds.
  "$work"/src/libsodium-*/configure --host="$triple" --prefix="$work/$arch/install" CFLAGS="$flags -ffile-prefix-map=$work=." CC="$triple-gcc" \
    --enable-minimal --disable-shared --disable-dependency-tracking
  make -j"$(nproc)" -C src/libsodium install
}

echo "libsodium: building for ${stale[*]}"
{ fetch; } >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cp "$work"/src/libsodium-*/LICENSE "$out/LICENSE"
for arch in "${stale[@]}"; do
  (build "$arch") >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
  rm -rf "${out:?}/$arch"
  mkdir "$out/$arch"
  rm "$work/$arch/install/lib/libsodium.la"
  mv "$work/$arch/install/include" "$work/$arch/install/lib" "$out/$arch/"
  echo "$recipe" >"$out/$arch/recipe"
done
