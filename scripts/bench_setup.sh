#!/usr/bin/env bash
# Installs what comparisons need and nothing else does. For scripts/bench.sh --kernels, Debian's oneDNN, OpenBLAS and SLEEF,
# and current versions of oneDNN and MKL from PyPI into build/bench (3 GB); for networks, PyTorch and their libraries (6 GB).
# With `tuning`, only TVM, for scripts/bench.sh --metaschedule (1 GB).
#
#   scripts/bench_setup.sh [tuning]
set -euo pipefail
cd "$(dirname "$0")/.."

# install_python FOLDER PACKAGE...: installs into a folder per package, because the two oneDNN libraries have the same
# name.
install_python() {
  local folder=build/bench/$1
  shift
  [[ $(cat "$folder/installed.txt" 2>/dev/null) != "$*" ]] || return 0
  echo "installing $* into $folder"
  rm -rf "$folder"
  mkdir -p build/bench
  /usr/bin/python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
  echo "$*" >"$folder/installed.txt"
}
if [[ ${1:-} == tuning ]]; then
  # Newer versions of TVM's foreign function interface (0.1.15) crash with this version of TVM.
  install_python tvm 'apache-tvm[meta-schedule,popen-pool,rpc]==0.27.0.post1' apache-tvm-ffi==0.1.14.post1
  exit
fi

missing=()
for package in libdnnl-dev libopenblas0-pthread libsleef3 python3-venv; do
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
  root=()
  [[ $(id -u) == 0 ]] || root=(sudo)
  echo "installing ${missing[*]}"
  "${root[@]}" apt-get -qq update
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
fi

install_python onednn-gomp onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0
install_python onednn-sycl onednn==2026.1.0 onednn-devel==2026.1.0
install_python mkl mkl==2026.2.0
# Exports networks (bench/networks/export.py), and computes them.
install_python networks torch==2.15.0 torchvision==0.29.2 onnx==1.23.2 onnxruntime==1.31.1 openvino==2026.4.1 mnn==3.6.1
