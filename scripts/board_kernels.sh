#!/usr/bin/env bash
# Downloads Debian's kernels for the boards that tests/boards boots under qemu-system, and for the machine on which a test of
# packages starts systemd (x86_64), and unpacks the required files to build/boards/ARCH: `kernel`, and `modules/*.ko` for
# the network. Nothing is installed, and the configuration of the
# machine's own apt is unchanged. Returns immediately if the files exist. Without network it prints a message, and the
# tests of these boards are skipped.
#
#   scripts/board_kernels.sh aarch64 [armv7] [riscv64] [x86_64]
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/private_apt.sh
# Debian's name of the architecture, the release that has kernels for it, and the package that depends on the newest
# one.
declare -A source=([aarch64]="arm64 bookworm linux-image-cloud-arm64" [armv7]="armhf bookworm linux-image-armmp"
  [riscv64]="riscv64 trixie linux-image-riscv64" [x86_64]="amd64 bookworm linux-image-cloud-amd64")
# In load order; some kernels have some of them built in.
modules=(virtio virtio_ring virtio_mmio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover
  virtio_net)

fetch() {
  local arch=$1 debian release meta package deb dir=$PWD/build/boards/$1
  read -r debian release meta <<<"${source[$arch]}"
  local work=$dir.tmp
  rm -rf "$work" "$dir"
  mkdir -p "$work/modules"
  private_apt "$work/apt" "$debian" "$release"
  export APT_CONFIG=$work/apt/apt.conf
  apt-get -qq update
  package=$(apt-cache depends --important "$meta" | sed -n 's/^ *Depends: \(linux-image-[^: ]*\).*/\1/p' | head -1)
  (cd "$work" && apt-get -qq download "$package")
  unset APT_CONFIG
  deb=$(echo "$work"/*.deb)
  dpkg -x "$deb" "$work/all"
  cp "$work"/all/boot/vmlinu[xz]-* "$work/kernel"
  for module in "${modules[@]}"; do
    # The module is built in, or a file that may be compressed.
    find "$work/all" -name "$module.ko*" -exec cp {} "$work/modules" \;
  done
  find "$work/modules" -name '*.xz' -exec xz -d {} \;
  echo "$package" >"$work/package"
  rm -rf "$work/apt" "$work/all" "$deb"
  mv "$work" "$dir"
}

for arch in "$@"; do
  [[ -n ${source[$arch]:-} ]] || { echo "expected aarch64, armv7, riscv64 or x86_64, got $arch" >&2; exit 2; }
  [[ -f build/boards/$arch/kernel ]] && continue
  mkdir -p build/boards
  log=build/boards/$arch.log
  echo "fetching Debian's kernel for $arch"
  # Runs in a separate shell, because errexit has no effect within a condition.
  if ! bash -c "$(declare -p source modules keyring); $(declare -f mirror private_apt fetch); set -euo pipefail; fetch $arch" \
    >"$log" 2>&1; then
    echo "no kernel for $arch, so the tests of such a board are skipped; $log says why:"
    tail -3 "$log"
  fi
done
