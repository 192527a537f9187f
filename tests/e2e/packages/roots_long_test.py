"""roots_long_test.py SOURCE_DIR: the packages, made twice with the same bytes, are installed and used in roots of Debian
12 and 13 that have no compiler. Roots are kept in build/roots. Without debootstrap, root or a network it is skipped."""
import hashlib
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1])
del sys.argv[1]
DIST = SOURCE / "dist"
ROOTS = SOURCE / "build" / "roots"
WHEELS = SOURCE / "build" / "roots" / "wheels"
NUMPY = "numpy==2.2.6"
MIRROR = "http://deb.debian.org/debian"
SKIPPED = 77

DOUBLE = "def twice(float(N) A) -> (B) { B(i) = A(i) * 2 }"
FIRST = """
import ferry, numpy as np
mm = ferry.connect().compile("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")["mm"]
A = np.random.default_rng(1).normal(size=(7, 4096)).astype(np.float32)
B = np.random.default_rng(2).normal(size=(4096, 3)).astype(np.float32)
assert np.abs(mm(A, B).numpy() - A.astype(np.float64) @ B).max() < 1e-2
print(mm.bench(A, B, repeat=8))
"""


def skip(why: str):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def make_root(release: str, python: str) -> Path:
    root = ROOTS / release
    if not (root / "usr" / "bin" / "python3").exists():
        shutil.rmtree(root, ignore_errors=True)
        made = subprocess.run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv", release, root, MIRROR],
                              capture_output=True, text=True)
        if made.returncode != 0:
            skip(f"debootstrap of {release}: {made.stdout[-300:]}")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest",
                    WHEELS, "--python-version", python, NUMPY], check=True)
    return root


def sums() -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DIST.iterdir()}


class RootsTest(unittest.TestCase):
    releases = {"bookworm": "3.11", "trixie": "3.13"}

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            skip("it takes root and debootstrap")
        WHEELS.mkdir(parents=True, exist_ok=True)
        cls.roots = {release: make_root(release, python) for release, python in cls.releases.items()}
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
        self.assertEqual(len(before), 7)

    def test_the_wheel_measures_a_kernel_and_brings_the_command(self):
        (wheel,) = DIST.glob("*.whl")
        self.assertLess(wheel.stat().st_size, 45e6)
        for release in self.roots:
            with self.subTest(release=release):
                shown = self.inside(release, f"""
                    ! command -v gcc clang
                    python3 -m venv /tmp/v
                    /tmp/v/bin/pip install --quiet --no-index --find-links /tmp/wheels /tmp/dist/*.whl
                    cat > /tmp/first.py <<'END'\n{FIRST}\nEND
                    /tmp/v/bin/python /tmp/first.py
                    /tmp/v/bin/ferry run -e '{DOUBLE}' --arg A=f32[3]:iota
                    /tmp/v/bin/python -m ferry --version
                    """)
                self.assertRegex(shown, r"(?s)^mm: [0-9.]+ (us|ms).*\nB = f32\[3\]\n\[0\. 2\. 4\.\].*ferry [0-9.]+\n$")

    def test_debians_package_runs_kernels_compiles_for_boards_and_is_removed_whole(self):
        for release in self.roots:
            with self.subTest(release=release):
                shown = self.inside(release, f"""
                    dpkg -i /tmp/dist/ferry_*_amd64.deb >/dev/null
                    ferry run -e '{DOUBLE}' --arg A=f32[3]:iota
                    ferry compile -e '{DOUBLE}' --target raspberry-pi-4 -o /tmp/k.ferry
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
