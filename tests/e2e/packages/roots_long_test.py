"""roots_long_test.py SOURCE_DIR: the packages, made twice with the same bytes, are installed and used in roots of Debian
12 and 13 and, where its packages are to be had, Ubuntu 22.04, which have no compiler. Roots are kept in build/roots. Without
debootstrap, root or a network it is skipped."""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(sys.argv[1])
del sys.argv[1]
DIST = SOURCE / "dist"
ROOTS = SOURCE / "build" / "roots"
WHEELS = SOURCE / "build" / "roots" / "wheels"
NUMPY = "numpy==2.2.6"
DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"
# Debian 12 has no package of Ubuntu's keys. This is Ubuntu's own, whose bytes are known.
KEYRING = "pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb"
KEYRING_SHA256 = "0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f"
SKIPPED = 77


class Release(NamedTuple):
    version: str  # of Python
    python: str
    mirror: str


RELEASES = {
    "bookworm": Release("3.11", "python3", DEBIAN),
    "trixie": Release("3.13", "python3", DEBIAN),
    "jammy": Release("3.11", "python3.11", UBUNTU),  # glibc 2.35. Its own Python is 3.10.
}

DOUBLE = "def twice(float(N) A) -> (B) { B(i) = A(i) * 2 }"
FIRST = """
import ferry, numpy as np
mm = ferry.connect().compile("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")["mm"]
A = np.random.default_rng(1).normal(size=(7, 4096)).astype(np.float32)
B = np.random.default_rng(2).normal(size=(4096, 3)).astype(np.float32)
assert np.abs(mm(A, B).numpy() - A.astype(np.float64) @ B).max() < 1e-2
print(mm.bench(A, B, repeat=8))
"""
IMPORT = """
import time
begin = time.perf_counter()
import ferry
print("import:", 1e3 * (time.perf_counter() - begin))
"""
MODULES = """
import ferry, numpy as np
twice = ferry.connect().load(ferry.CompiledModule.open("/tmp/k.ferry"))["twice"]
print(twice(np.array([1, 2], "f4")).numpy().tolist())
"""


def skip(why: str):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def ubuntus_keys() -> Path:
    """The keyring with which Ubuntu's archive is signed. Raises OSError if it is not to be had."""
    folder = ROOTS / "ubuntu-keyring"
    if not folder.exists():
        package = urllib.request.urlopen(f"{UBUNTU}/{KEYRING}", timeout=60).read()
        if hashlib.sha256(package).hexdigest() != KEYRING_SHA256:
            raise OSError("it has other bytes than expected")
        (ROOTS / "ubuntu-keyring.deb").write_bytes(package)
        subprocess.run(["dpkg-deb", "--extract", ROOTS / "ubuntu-keyring.deb", folder], check=True)
    return folder / "usr/share/keyrings/ubuntu-archive-keyring.gpg"


def install_from_updates(root: Path, suite: str, *packages: str) -> subprocess.CompletedProcess[str]:
    """Installs packages that only the updates of a release of Ubuntu have. debootstrap's --extra-suites sometimes finds no
    file for what they depend on."""
    (root / "etc/apt/sources.list").write_text(
        f"deb {UBUNTU} {suite} main universe\ndeb {UBUNTU} {suite}-updates main universe\n")
    commands = "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends install"
    return subprocess.run(["chroot", root, "env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c",
                           f"{commands} {' '.join(packages)}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def make_root(name: str) -> Path | None:
    """None: it is a release of Ubuntu whose packages are not to be had."""
    root, release = ROOTS / name, RELEASES[name]
    if not (root / "usr" / "bin" / release.python).exists():
        shutil.rmtree(root, ignore_errors=True)
        is_ubuntu = release.mirror == UBUNTU
        options = ["--include=python3,python3-venv"]
        if is_ubuntu:
            try:
                options = [f"--keyring={ubuntus_keys()}"]
            except OSError as error:
                print(f"without a root of {name}: Ubuntu's keys: {error}")
                return None
        made = subprocess.run(["debootstrap", "--variant=minbase", *options, name, root, release.mirror], capture_output=True, text=True)
        if made.returncode == 0 and is_ubuntu:
            made = install_from_updates(root, name, release.python, f"{release.python}-venv")
        if made.returncode != 0 and is_ubuntu:
            shutil.rmtree(root, ignore_errors=True)
            print(f"without a root of {name}: {made.stdout[-300:]}")
            return None
        if made.returncode != 0:
            skip(f"debootstrap of {name}: {made.stdout[-300:]}")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest",
                    WHEELS, "--python-version", release.version, NUMPY], check=True)
    return root


def sums() -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DIST.iterdir()}


class RootsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            skip("it takes root and debootstrap")
        WHEELS.mkdir(parents=True, exist_ok=True)
        cls.roots = {name: root for name in RELEASES if (root := make_root(name)) is not None}
        shutil.rmtree(DIST, ignore_errors=True)
        subprocess.run([SOURCE / "scripts" / "package.sh"], check=True, stdout=subprocess.DEVNULL)

    def inside(self, release: str, script: str) -> str:
        """The output of a shell script in a root, in a namespace in which nothing but the packages of ours is seen."""
        root = self.roots[release]
        mounts = (f"mount --bind '{root}' '{root}' && mount -t proc proc '{root}/proc' && mount --rbind /dev '{root}/dev' && "
                  f"mount --rbind /sys '{root}/sys' && mount -t tmpfs tmpfs '{root}/tmp' && mkdir '{root}/tmp/dist' && "
                  f"mount --bind '{DIST}' '{root}/tmp/dist' && mkdir '{root}/tmp/wheels' && "
                  f"mount --bind '{WHEELS}' '{root}/tmp/wheels' && exec chroot '{root}' env -i "
                  f"PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp bash -euc \"$0\"")
        done = subprocess.run(["unshare", "-m", "--propagation", "private", "bash", "-c", mounts, script],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, f"{release}: {done.stdout}{done.stderr}")
        return done.stdout

    def test_two_builds_give_the_same_bytes(self):
        before = sums()
        shutil.rmtree(SOURCE / "build" / "wheel", ignore_errors=True)
        subprocess.run([SOURCE / "scripts" / "package.sh"], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(before, sums())
        self.assertEqual(len(before), 9)

    def test_the_wheel_measures_a_kernel_and_brings_the_command(self):
        (wheel,) = DIST.glob("ferry-*.whl")
        self.assertLess(wheel.stat().st_size, 45e6)
        for release in self.roots:
            with self.subTest(release=release):
                shown = self.inside(release, f"""
                    ! command -v gcc clang
                    {RELEASES[release].python} -m venv /tmp/v
                    cat > /tmp/first.py <<'END'\n{FIRST}\nEND
                    begin=$(date +%s%N)
                    /tmp/v/bin/pip install --quiet --no-index --find-links /tmp/wheels /tmp/dist/ferry-*.whl
                    /tmp/v/bin/python /tmp/first.py
                    echo "ms: $((($(date +%s%N) - begin) / 1000000))"
                    /tmp/v/bin/ferry run -e '{DOUBLE}' --arg A=f32[3]:iota
                    /tmp/v/bin/python -m ferry --version
                    echo "kB: $(du -sk --apparent-size /tmp/v/lib/python3*/site-packages/ferry | cut -f1)"
                    cat > /tmp/import.py <<'END'\n{IMPORT}\nEND
                    for i in 1 2 3 4 5; do /tmp/v/bin/python /tmp/import.py; done
                    """)
                self.assertRegex(shown, r"(?s)^mm: [0-9.]+ (us|ms).*\nB = f32\[3\]\n\[0\. 2\. 4\.\].*ferry [0-9.]+\n")
                kilobytes, milliseconds = (int(re.search(rf"{unit}: (\d+)", shown)[1]) for unit in ("kB", "ms"))
                self.assertLess(kilobytes, 180e3)
                imports = min(map(float, re.findall(r"import: ([0-9.]+)", shown)))
                print(f"{release}: {wheel.stat().st_size / 1e6:.1f} MB, {kilobytes / 1e3:.0f} MB installed, "
                      f"{milliseconds / 1e3:.1f} s from pip install to the first result, import {imports:.0f} ms")

    def test_the_client_wheel_runs_modules_and_neither_wheel_loads_beside_the_other(self):
        for release in self.roots:
            with self.subTest(release=release):
                shown = self.inside(release, f"""
                    {RELEASES[release].python} -m venv /tmp/v
                    pip="/tmp/v/bin/pip --quiet --disable-pip-version-check"
                    $pip install --no-index --find-links /tmp/wheels /tmp/dist/ferry-*.whl
                    /tmp/v/bin/ferry compile -e '{DOUBLE}' -o /tmp/k.ferry
                    $pip install --no-index --find-links /tmp/wheels /tmp/dist/ferry_client-*_x86_64.whl
                    ! /tmp/v/bin/python -c 'import ferry' 2>/tmp/refused || false
                    tail -1 /tmp/refused
                    ! /tmp/v/bin/ferry --version 2>/tmp/refused || false
                    tail -1 /tmp/refused
                    $pip uninstall -y ferry ferry-client
                    $pip install --no-index --find-links /tmp/wheels /tmp/dist/ferry_client-*_x86_64.whl
                    cat > /tmp/modules.py <<'END'\n{MODULES}\nEND
                    /tmp/v/bin/python /tmp/modules.py
                    /tmp/v/bin/ferry run /tmp/k.ferry --arg A=f32[3]:iota
                    """)
                refused = "the wheels ferry and ferry-client are both installed here, but only one can be"
                self.assertEqual(shown.count(refused), 2, shown)
                self.assertIn("[2.0, 4.0]", shown)
                self.assertIn("[0. 2. 4.]", shown)

    def test_debians_package_runs_kernels_compiles_for_boards_and_is_removed_whole(self):
        for release in self.roots:
            with self.subTest(release=release):
                shown = self.inside(release, f"""
                    dpkg -i /tmp/dist/ferry_*_amd64.deb >/dev/null
                    ferry run -e '{DOUBLE}' --arg A=f32[3]:iota
                    ferry compile -e '{DOUBLE}' --target raspberry-pi-4 -o /tmp/k.ferry
                    timeout 20 ferry farm serve --database /tmp/farm.db --listen 127.0.0.1:0 >/tmp/tracker 2>&1 &
                    for i in $(seq 100); do grep -q 127.0.0.1 /tmp/tracker && break; sleep 0.1; done
                    grep 127.0.0.1 /tmp/tracker && kill $! && test -s /tmp/farm.db
                    test -s /usr/share/man/man1/ferry-compile.1 -a -s /usr/share/doc/ferry/THIRD_PARTY.txt
                    test -s /usr/share/bash-completion/completions/ferry
                    dpkg -r ferry >/dev/null
                    test ! -e /usr/lib/ferry
                    """)
                self.assertIn("[0. 2. 4.]", shown)

    def test_the_servers_package_makes_its_user_and_serves_a_client_of_the_archive(self):
        for release in self.roots:
            with self.subTest(release=release):
                shown = self.inside(release, f"""
                    dpkg -i /tmp/dist/rpc-server_*_amd64.deb >/dev/null
                    id ferry
                    test -s /usr/lib/systemd/system/rpc_server.service
                    ip link set lo up 2>/dev/null || true
                    mkdir -m 700 /tmp/keys
                    python3 -c 'import glob, tarfile; tarfile.open(glob.glob("/tmp/dist/*.tar.xz")[0]).extractall("/tmp/x")' \\
                      2>/dev/null
                    timeout 60 rpc_server --host 127.0.0.1 --port 9755 --user ferry --key-file /tmp/keys --workdir /tmp/w \\
                      >/tmp/log 2>&1 &
                    server=$!
                    for i in $(seq 100); do test -s /tmp/keys/default.key && break; sleep 0.1; done
                    /tmp/x/*/bin/ferry run -e '{DOUBLE}' --arg A=f32[3]:iota --remote 127.0.0.1:9755 \\
                      --key-file /tmp/keys/default.key || {{ cat /tmp/log; false; }}
                    kill $server
                    dpkg -r rpc-server >/dev/null 2>&1
                    """)
                self.assertIn("[0. 2. 4.]", shown)


if __name__ == "__main__":
    unittest.main(verbosity=2)
