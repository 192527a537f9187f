"""plugin_test.py SOURCE_DIR BINARY_DIR: the plugin of pytest that comes with the package."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

del sys.argv[1:3]
os.environ.pop("FERRY_REMOTE", None)

TESTS = '''
import ferry, numpy as np

ADD = "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) OPERATION B(i) }"

def test_sum(ferry_device):
    add = ferry_device.compile(ADD)["add"]
    A, B = np.random.default_rng(1).normal(size=(2, 101)).astype(np.float32)
    ferry.testing.assert_close(add(A, B), add, A, B)

def test_speed(ferry_bench):
    print("verdict", ferry_bench(ADD, sizes={"N": 1000}, threads=1).verdict)

def test_speed_of_c(ferry_bench, tmp_path):
    file = tmp_path / "k.c"
    file.write_text("void half(float* x) { x[0] /= 2; }")
    print("of C", ferry_bench(ferry.c(file, "half(inout f32[1] x)"), inputs=["x=:ones"]).verdict)
'''


@unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed: run scripts/setup.sh")
class PluginTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="ferry-plugin-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def run_pytest(self, operation, *options):
        (self.folder / "test_kernels.py").write_text(TESTS.replace("OPERATION", operation))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "ferry.pytest_plugin", "-p", "no:cacheprovider", "-s", "-q", *options],
            cwd=self.folder, capture_output=True, text=True, timeout=200)

    def test_a_kernel_is_compared_with_what_the_same_test_stored_before(self):
        first = self.run_pytest("+", "--ferry-device", "inproc://", "-k", "sum")
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        first = self.run_pytest("+")
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertIn("verdict first", first.stdout)
        self.assertIn("of C first", first.stdout)
        self.assertTrue((self.folder / ".ferry-gate").is_dir())
        again = self.run_pytest("+", "--ferry-update")
        self.assertIn("verdict unchanged", again.stdout)
        self.assertIn("of C unchanged", again.stdout)
        wrong = self.run_pytest("*")
        self.assertEqual(wrong.returncode, 1, wrong.stdout + wrong.stderr)
        self.assertRegex(wrong.stdout, r"bench on this machine: wrong \(the baseline computes something else: C\[\d+\] is")
        self.assertIn("1 failed, 2 passed", wrong.stdout)
        elsewhere = self.run_pytest("*", "--ferry-store", "elsewhere", "--ferry-baseline", "other")
        self.assertIn("verdict first", elsewhere.stdout)

    def test_tests_are_skipped_with_the_reason_where_nobody_answers(self):
        done = self.run_pytest("+", "--ferry-device", "plaintext://127.0.0.1:1", "-rs")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("3 skipped", done.stdout)
        self.assertRegex(done.stdout, "no device: .*cannot connect to 127.0.0.1:1")

    def test_pytest_describes_its_options(self):
        shown = subprocess.run([sys.executable, "-m", "pytest", "-p", "ferry.pytest_plugin", "--help"], capture_output=True,
                               text=True, timeout=100).stdout
        for option in ("--ferry-device", "--ferry-store", "--ferry-baseline", "--ferry-update"):
            self.assertRegex(shown, re.escape(option))


if __name__ == "__main__":
    unittest.main()
