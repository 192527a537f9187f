#!/usr/bin/env bash
# Downloads what scripts/bench.sh --static --peers compares with, and unpacks it to build/bench/boards/ARCH: Debian's
# XNNPACK and OpenBLAS for 64-bit and 32-bit ARM, and for 64 bits Python with ONNX Runtime's wheel. Nothing is
# installed, and the configuration of the machine's own apt is unchanged. Returns immediately if they are there.
#
#   scripts/board_peers.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/private_apt.sh

declare -A debian=([aarch64]=arm64 [armv7]=armhf)
libraries="libxnnpack-dev libpthreadpool-dev libopenblas0-pthread"
declare -A packages=([aarch64]="$libraries libstdc++6 python3.11-minimal libpython3.11-stdlib" [armv7]=$libraries)
wheels=(onnxruntime==1.32.0 numpy==2.2.6)

# Unpacks the packages and all that they need.
unpack_packages() {
  local arch=$1 folder=$2
  private_apt "$PWD/$folder.apt" "${debian[$arch]}" bookworm
  (
    export APT_CONFIG=$PWD/$folder.apt/apt.conf
    apt-get -qq update
    # shellcheck disable=SC2086
    apt-get -qq install -y --download-only --no-install-recommends ${packages[$arch]}
  )
  mkdir -p "$folder"
  for package in "$folder".apt/archives/*.deb; do dpkg -x "$package" "$folder"; done
}

unpack_wheels() {
  local folder=$1
  /usr/bin/python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 --python-version 3.11 \
    -d "$folder.apt/wheels" "${wheels[@]}"
  for wheel in "$folder".apt/wheels/*.whl; do /usr/bin/python3 -m zipfile -e "$wheel" "$folder/python"; done
}

for arch in aarch64 armv7; do
  folder=build/bench/boards/$arch
  [[ ! -d $folder ]] || continue
  echo "downloading peers for $arch into $folder"
  rm -rf "$folder".{new,new.apt}
  mkdir -p build/bench/boards
  unpack_packages "$arch" "$folder.new"
  [[ $arch != aarch64 ]] || unpack_wheels "$folder.new"
  rm -rf "$folder.new.apt"
  mv "$folder.new" "$folder"
done
