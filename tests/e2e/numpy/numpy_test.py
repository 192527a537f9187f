"""numpy_test.py FERRY: files that NumPy wrote go in, files that NumPy reads come out, and NumPy computes the same."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

FERRY = sys.argv.pop(1)
os.environ.pop("FERRY_REMOTE", None)
ADD = "def add({0}(N,M) A, {0}(N,M) B) -> (C) {{ C(i,j) = A(i,j) + B(i,j) }}"
DTYPES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


class NumpyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.random = np.random.default_rng(7)

    def tearDown(self):
        self.folder.cleanup()

    def ferry(self, *words):
        done = subprocess.run([FERRY, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def run_kernel(self, kernel, output, *words, **inputs):
        """The output of a kernel on these arrays, by way of files."""
        for name, array in inputs.items():
            np.save(Path(self.folder.name) / f"{name}.npy", array)
            words += ("--arg", f"{name}=@{self.folder.name}/{name}.npy")
        result = Path(self.folder.name) / "result.npy"
        self.ferry("run", "-e", kernel, "--out", f"{output}=@{result}", *words)
        return np.load(result)

    def numbers(self, dtype, shape):
        if np.dtype(dtype).kind == "f":
            return self.random.uniform(-4, 4, shape).astype(dtype)
        return self.random.integers(0, 127, shape).astype(dtype)

    def test_every_dtype_goes_in_and_comes_out(self):
        for dtype in DTYPES:
            with self.subTest(dtype):
                a, b = self.numbers(dtype, (5, 21)), self.numbers(dtype, (5, 21))
                c = self.run_kernel(ADD.format(dtype), "C", A=a, B=b)
                self.assertEqual(c.dtype, np.dtype(dtype))
                np.testing.assert_array_equal(c, a + b)

    def test_bools(self):
        a = self.random.integers(0, 2, 40).astype(bool)
        b = self.run_kernel("def no(bool(N) A) -> (B) { B(i) = !A(i) }", "B", A=a)
        np.testing.assert_array_equal(b, ~a)

    def test_columns_first_and_the_other_byte_order(self):
        a, b = self.numbers("float32", (5, 21)), self.numbers("float32", (5, 21))
        c = self.run_kernel(ADD.format("float32"), "C", A=np.asfortranarray(a), B=b.astype(">f4"))
        np.testing.assert_array_equal(c, a + b)

    def test_scalars_and_empty_arrays(self):
        kernel = "def total(float64(N) A) -> (S) { S() +=! A(i) }"
        self.assertEqual(self.run_kernel(kernel, "S", A=np.arange(10.0)).shape, ())
        self.assertEqual(self.run_kernel(kernel, "S", A=np.zeros(0)), 0)

    def test_matmul(self):
        a, b = self.numbers("float32", (33, 65)), self.numbers("float32", (65, 47))
        c = self.run_kernel("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "C", A=a, B=b)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        terms = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        self.assertLess(np.max(np.abs(c - exact) / terms), 65 * np.finfo(np.float32).eps)

    def test_softmax_of_rows(self):
        source = Path(__file__).parents[3] / "examples/kernels/softmax.tc"
        a = self.numbers("float32", (13, 45))
        np.save(f"{self.folder.name}/a.npy", a)
        self.ferry("run", str(source), "--arg", f"A=@{self.folder.name}/a.npy", "--out", f"Y=@{self.folder.name}/y.npy")
        exact = np.exp(a.astype(np.float64))
        exact /= exact.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(np.load(f"{self.folder.name}/y.npy"), exact, rtol=1e-5)

    def test_floor_division_and_remainder(self):
        a = self.random.integers(-99, 99, 200)
        b = self.random.integers(1, 9, 200) * self.random.choice([-1, 1], 200)
        kernel = "def f(int64(N) A, int64(N) B) -> (C) { C(i) = A(i) / B(i) * 1000 + A(i) % B(i) }"
        np.testing.assert_array_equal(self.run_kernel(kernel, "C", A=a, B=b), a // b * 1000 + a % b)

    def test_small_results_are_printed_as_numpy_prints_them(self):
        out = self.ferry("run", "-e", "def half(float64(N) A) -> (B) { B(i) = A(i) / 8 }", "--arg", "A=f64[9]:iota")
        self.assertIn(str(np.arange(9) / 8), out)


if __name__ == "__main__":
    unittest.main()
