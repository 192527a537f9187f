#!/usr/bin/env bash
# Installs the packages that building and testing need on Debian 12, as root or through sudo, builds the small
# libsodium, and downloads the kernel of an emulated board. Takes well under a second if everything is there.
#
#   scripts/setup.sh [--demo]
#
# --demo installs only what scripts/demo.sh needs.
set -euo pipefail
cd "$(dirname "$0")/.."

demo=0
case ${1:-} in
  "") ;;
  --demo) demo=1 ;;
  *) echo "usage: scripts/setup.sh [--demo]" >&2; exit 2 ;;
esac

packages=(
  # building
  git ca-certificates cmake ninja-build make pkg-config g++ ccache
  # building libsodium from its source package
  dpkg-dev autoconf automake libtool
  # compiler and linker libraries; libcurl only silences a search of LLVM's CMake files
  llvm-19-dev liblld-19-dev lld-19
  # libraries, with those of the tests and benchmarks, which CMake looks for
  libasio-dev libcereal-dev opencl-c-headers libcli11-dev nlohmann-json3-dev libtomlplusplus-dev doctest-dev
  libbenchmark-dev
  # decoding pictures: a header
  libstb-dev
  # the databases of a farm's tracker; of PostgreSQL's library only the headers
  libsqlite3-dev libpq-dev
  # the HTTP interface and the webhooks of a farm's tracker
  libcpp-httplib-dev libssl-dev libbrotli-dev zlib1g-dev
  # reading ONNX files, and installing their schema from PyPI
  libprotobuf-dev protobuf-compiler python3 python3-venv
  # the headers of Python, for its package
  python3-dev
  # servers of other architectures
  qemu-user
)
test_packages=(
  # clang compiles kernels independently of ferry's own compiler
  openssh-client openssh-server gdb clang-19 clang-format-19 libclang-rt-19-dev systemd
  # OpenCL on the CPU for the tests, and a simulator that detects data races
  pocl-opencl-icd ocl-icd-libopencl1 oclgrind
  # a database for the trackers of a farm
  postgresql
  # hosts of their own for the parts of a farm
  iproute2
  # a browser for the farm's page, and the proxy in front of it
  chromium nginx-light openssl
  # roots in which packages are installed, in long runs
  debootstrap
  # emulated boards with kernels of their own, and a machine with systemd
  qemu-system-arm qemu-system-misc qemu-system-x86 xz-utils
)
# Cross compilers for rpc_server on the other architectures; the machine's own compiler is already in the list.
declare -A cross=([amd64]=g++-x86-64-linux-gnu [armhf]=g++-arm-linux-gnueabihf
  [arm64]=g++-aarch64-linux-gnu [riscv64]=g++-riscv64-linux-gnu)
unset "cross[$(dpkg --print-architecture)]"
packages+=("${cross[@]}")
[[ $demo == 1 ]] || packages+=("${test_packages[@]}")

install_packages() {
  local missing=() root=() package installed
  installed=" $(dpkg-query -W -f='${Package}/${db:Status-Status} ' "${packages[@]}" 2>/dev/null || true)"
  for package in "${packages[@]}"; do
    [[ $installed == *" $package/installed "* ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) != 0 ]]; then
    root=(sudo)
    command -v sudo >/dev/null || {
      echo "expected to be root or to have sudo, to install: ${missing[*]}" >&2
      exit 1
    }
  fi
  echo "installing ${missing[*]}"
  # The tests start their own sshd; this file keeps the package from starting one that listens on the network.
  if [[ " ${missing[*]} " == *" openssh-server "* ]]; then
    "${root[@]}" mkdir -p /etc/ssh
    "${root[@]}" touch /etc/ssh/sshd_not_to_be_run
  fi
  # Likewise for PostgreSQL.
  if [[ " ${missing[*]} " == *" postgresql "* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
    "${root[@]}" mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" | "${root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
  fi
  # nginx is not to listen either. "systemctl unmask nginx" lets it.
  if [[ " ${missing[*]} " == *" nginx-light "* && ! -e /etc/systemd/system/nginx.service ]]; then
    "${root[@]}" mkdir -p /etc/systemd/system
    "${root[@]}" ln -s /dev/null /etc/systemd/system/nginx.service
  fi
  local log options=(-o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -qq)
  log=$(mktemp)
  if ! { "${root[@]}" apt-get "${options[@]}" update &&
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y --no-install-recommends \
      "${missing[@]}"; } >"$log" 2>&1; then
    tail -30 "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
}

# Installs the lists of Python packages that build/venv lacks. It starts anew if it holds an earlier version of one.
install_python() {
  local list missing=()
  for list in "$@"; do
    cmp -s "$list" "build/venv/${list##*/}" && continue
    [[ ! -e build/venv/${list##*/} ]] || { install_anew "$@"; return; }
    missing+=("$list")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  echo "installing Python packages into build/venv"
  mkdir -p build
  [[ -x build/venv/bin/pip ]] || /usr/bin/python3 -m venv build/venv
  build/venv/bin/pip install --quiet --disable-pip-version-check "${missing[@]/#/-r}"
  cp "${missing[@]}" build/venv
}

install_anew() {
  rm -rf build/venv
  install_python "$@"
}

install_packages
scripts/libsodium.sh
[[ $demo == 1 ]] || scripts/httplib.sh
if [[ $demo == 1 ]]; then
  install_python scripts/build-requirements.txt
else
  install_python scripts/build-requirements.txt scripts/test-requirements.txt
  scripts/board_kernels.sh aarch64
fi
