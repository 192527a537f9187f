"""client_long_test.py SOURCE_DIR BINARY_DIR: the wheels ferry-client run modules that the whole ferry compiled, on this
machine and, for aarch64, in an emulator, with Debian's Python for it, which needs a network."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

SOURCE, BINARY = map(Path, sys.argv[1:3])
del sys.argv[1:3]
sys.path.insert(0, str(SOURCE / "tests/e2e/python"))
PYTHON = SOURCE / "build/venv/bin/python"
FERRY = BINARY / "bin/ferry"
KEPT = SOURCE / "build/roots"
NUMPY = "numpy==2.2.6"

MM = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (0,), "CXXABI": (0,)}
# Where each version of Python comes from.
RELEASES = {"3.11": "bookworm", "3.13": "trixie"}

USES = """
import sys
import numpy as np, ferry
address, module, key = sys.argv[1:4]
device = ferry.connect(address, key_file=key)
mm = device.load(ferry.CompiledModule.open(module))["mm"]
random = np.random.default_rng(5)
for m, k, n in ((1, 1, 1), (7, 129, 3), (33, 65, 17)):
    A, B = random.normal(size=(m, k)).astype("f4"), random.normal(size=(k, n)).astype("f4")
    np.testing.assert_allclose(mm(A, B).numpy(), A.astype(float) @ B, rtol=1e-4, atol=1e-4)
assert ferry.check(mm, A, B).is_fine
ferry.testing.assert_close(A.astype(float).dot(B).astype("f4"), mm, A, B)
try:
    ferry.testing.assert_close(1.01 * A @ B, mm, A, B)
except AssertionError as error:
    print("found:", error)
print("median:", mm.bench(A, B, repeat=3, min_repeat_ms=1, peak=False).median > 0)
"""
COMPARES = "print('verdict:', ferry.compare(mm, mm, [A, B], processes=3).verdict)\n"


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def unpacked(architecture: str, folder: Path) -> Path:
    """The package of a wheel, as pip would install it."""
    (wheel,) = (SOURCE / "dist").glob(f"ferry_client-*_{architecture}.whl")
    run(PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", folder, "--only-binary", ":all:",
        "--platform", f"manylinux_2_34_{architecture}", "--python-version", "3.11", wheel)
    return folder


def foreign_python(version: str) -> tuple[Path, Path] | None:
    """Debian's Python for aarch64, in a folder that nothing of this machine is needed beside, and one of NumPy."""
    root, numpy = KEPT / f"arm64-{version}", KEPT / f"arm64-{version}-numpy"
    script = f"""
        set -euo pipefail
        source scripts/private_apt.sh
        private_apt '{root}.apt' arm64 {RELEASES[version]}
        export APT_CONFIG='{root}.apt/apt.conf'
        apt-get -qq update
        apt-get -qq -y --no-install-recommends --download-only -o Dir::Cache::archives='{root}.apt/archives' \\
          install python{version}
        mkdir '{root}.new'
        for deb in '{root}.apt/archives'/*.deb; do dpkg -x "$deb" '{root}.new'; done
        rm -rf '{root}.apt'
        [[ -e '{root}.new/lib' ]] || ln -s usr/lib '{root}.new/lib'
        build/venv/bin/python -m pip download --quiet --no-deps --only-binary :all: --python-version {version} \\
          --platform manylinux2014_aarch64 --dest '{numpy}.new' {NUMPY}
        mv '{numpy}.new' '{numpy}'
        mv '{root}.new' '{root}'
    """
    if not root.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        made = subprocess.run(["bash", "-c", script], cwd=SOURCE, capture_output=True, text=True)
        if made.returncode != 0:
            print(f"no Python {version} for aarch64: {made.stderr[-300:]}")
            return None
    return root, numpy


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run(SOURCE / "scripts/package.sh", "client")
        scratch = tempfile.TemporaryDirectory(prefix="ferry-client-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        cls.site = {each: unpacked(each, cls.folder / each) for each in ("x86_64", "aarch64")}
        cls.module = {each: cls.folder / f"{each}.ferry" for each in cls.site}
        run(FERRY, "compile", "-e", MM, "--target", "llvm -mtriple=x86_64-linux-gnu", "-o", cls.module["x86_64"])
        run(FERRY, "compile", "-e", MM, "--target", "raspberry-pi-4", "-o", cls.module["aarch64"])
        cls.uses, cls.compares = cls.folder / "uses.py", cls.folder / "compares.py"
        cls.uses.write_text(USES)
        cls.compares.write_text(USES + COMPARES)

    def here(self, *words):
        """Runs this machine's Python with the package, and nothing else of ferry."""
        return run(PYTHON, *words, cwd=self.folder,
                   env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PYTHONPATH": str(self.site["x86_64"])})

    def serve(self, *words):
        """A server that ends with the test: its address, and the file of its key."""
        keys = tempfile.TemporaryDirectory(prefix="ferry-keys-")
        self.addCleanup(keys.cleanup)
        server = subprocess.Popen([*words, "--port", "0", "--key-file", f"{keys.name}/k", "--workdir", keys.name],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

        def end():
            server.kill()
            server.wait()
            server.stdout.close()

        self.addCleanup(end)
        said = server.stdout.readline()
        return re.search(r"127\.0\.0\.1:\d+", said)[0], f"{keys.name}/k"

    def test_python_runs_checks_times_and_compares_modules_here_and_in_this_process(self):
        for address in ("", "inproc://"):
            with self.subTest(address=address):
                shown = self.here(self.compares if not address else self.uses, address, self.module["x86_64"], "")
                self.assertIn("found: mm: C[", shown)
                self.assertIn("median: True", shown)
                if not address:
                    self.assertRegex(shown, "verdict: (no difference|unknown)")  # on a busy machine

    def test_the_command_runs_modules_and_reaches_boards(self):
        ferry = self.site["x86_64"] / "bin/ferry"
        shown = run(ferry, "run", self.module["x86_64"], "--size", "M=3,N=2,K=5", "--check",
                    env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PYTHONPATH": str(self.site["x86_64"])})
        self.assertIn("C = f32[3,2]", shown)
        for architecture in ("x86_64", "armv7", "aarch64", "riscv64"):  # what ssh://BOARD installs
            server = self.site["x86_64"] / f"ferry/libexec/ferry/{architecture}/static/rpc_server"
            self.assertTrue(os.access(server, os.X_OK), architecture)

    def test_boards_of_a_farm_are_leased(self):
        sys.path.insert(0, str(self.site["x86_64"]))
        os.environ["FERRY_PROGRAM"] = str(FERRY)  # the tracker is the whole ferry
        self.addCleanup(os.environ.pop, "FERRY_PROGRAM")
        import numpy as np

        import ferry
        from servers import start_farm

        farm = self.folder / "farm"
        farm.mkdir()
        address, admin = start_farm(self, SOURCE, farm, ["one", "two"])
        board = f"farm://{address}/arch=x86_64"
        with ferry.lease(board, board, key_file=admin, queue=60) as devices:
            for device in devices:
                mm = device.load(ferry.CompiledModule.open(str(self.module["x86_64"])))["mm"]
                self.assertEqual(mm(np.ones((2, 3), "f4"), np.ones((3, 1), "f4")).numpy().tolist(), [[3], [3]])
        listed = run(self.site["x86_64"] / "ferry/bin/ferry", "farm", "devices", "--farm", address, "--key-file", admin)
        self.assertIn("two", listed)

    def test_what_needs_a_compiler_is_refused_in_a_sentence_that_says_what_to_install(self):
        lines = {
            f"ferry.compile({MM!r})": "Error unsupported",
            f"ferry.connect('inproc://').compile({MM!r})": "Error unsupported",
            "ferry.connect('inproc://').target": "Error unsupported",
            "ferry.te": "ImportError",
            "import ferry.te": "ImportError",
        }
        for line, kind in lines.items():
            with self.subTest(line=line):
                shown = self.here("-c", f"import ferry\ntry:\n    {line}\nexcept Exception as e:\n"
                                        "    print(type(e).__name__, getattr(e, 'code', ''), e)")
                self.assertTrue(shown.startswith(kind), shown)
                self.assertIn("install the wheel 'ferry' in place of 'ferry-client'", shown)
        tuned = self.here("-c", f"import ferry\ntry:\n    ferry.export({MM!r}, 'x')\nexcept ferry.UsageError as e:\n    print(e)")
        self.assertIn("needs a compiler, which this ferry is built without", tuned)
        self.assertNotIn("te", self.here("-c", "from ferry import *; print(*dir())").split())

    def test_it_needs_the_c_library_of_glibc_2_34_and_nothing_else(self):
        for architecture, site in self.site.items():
            binaries = [site / "ferry/bin/ferry", *site.glob("ferry/_ferry.*.so"),
                        site / f"ferry/libexec/ferry/{architecture}/dynamic/rpc_server"]
            self.assertEqual(len(binaries), 4, architecture)
            for binary in binaries:
                with self.subTest(binary=binary):
                    objdump = "aarch64-linux-gnu-objdump" if architecture == "aarch64" else "objdump"
                    for name, number in re.findall(r"\((GLIBC|GLIBCXX|CXXABI)_([0-9.]+)\)", run(objdump, "-T", binary)):
                        self.assertLessEqual(tuple(map(int, number.split("."))), NEWEST[name], f"{name}_{number}")
                    headers = run(objdump, "-p", binary)
                    self.assertNotIn("GLIBC_ABI_DT_RELR", headers)
                    for needed in re.findall(r"NEEDED +(\S+)", headers):
                        self.assertRegex(needed, r"^(libc|libm|libdl|libpthread|ld-linux.*)\.so")
                    self.assertNotIn(str(SOURCE).encode(), binary.read_bytes())

    def test_the_command_for_aarch64_runs_modules_on_servers_of_both_architectures(self):
        emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
        board = SOURCE / "build/device/aarch64/static/rpc_server"
        for server, architecture in (([SOURCE / "build/device/x86_64/dynamic/rpc_server"], "x86_64"),
                                     (["qemu-aarch64", board], "aarch64")):
            with self.subTest(server=architecture):
                address, key = self.serve(*server)
                shown = run(*emulator, self.site["aarch64"] / "ferry/bin/ferry", "run", self.module[architecture],
                            "--arg", "A=f32[2,3]:iota", "--arg", "B=f32[3,1]:iota", "--remote", address, "--key-file", key,
                            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
                self.assertIn("[[ 5.]\n [14.]]", shown)

    def test_python_for_aarch64_runs_modules_in_its_process_and_on_a_server(self):
        for version in RELEASES:
            with self.subTest(python=version):
                found = foreign_python(version)
                if found is None:
                    self.skipTest(f"Debian's Python {version} for aarch64 is not to be had")
                root, numpy = found
                packages = self.folder / f"numpy-{version}"
                zipfile.ZipFile(next(numpy.glob("*.whl"))).extractall(packages)
                address, key = self.serve("qemu-aarch64", SOURCE / "build/device/aarch64/static/rpc_server")
                for where, key_file in (("inproc://", ""), (address, key)):
                    shown = run("qemu-aarch64", "-L", root, root / f"usr/bin/python{version}", self.uses, where,
                                self.module["aarch64"], key_file,
                                env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PYTHONHOME": str(root / "usr"),
                                     "PYTHONPATH": f"{self.site['aarch64']}:{packages}"})
                    self.assertIn("found: mm: C[", shown, where)
                    self.assertIn("median: True", shown, where)


if __name__ == "__main__":
    unittest.main(verbosity=2)
