"""numpy_test.py FERRY: files that NumPy wrote go in, files that NumPy reads come out, and NumPy computes the same."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ml_dtypes
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

    def test_bfloat16_is_the_type_of_ml_dtypes(self):
        a, b = self.numbers("float32", (5, 21)), self.numbers("float32", (5, 21))
        a, b = a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16)
        c = self.run_kernel(ADD.format("bfloat16"), "C", A=a, B=b)
        self.assertEqual(c.dtype, np.dtype(ml_dtypes.bfloat16))
        np.testing.assert_array_equal(c, a + b)
        again = self.run_kernel("def twice(bfloat16(N,M) A) -> (C) { C(i,j) = A(i,j) * 2 }", "C", A=c)
        np.testing.assert_array_equal(again, c + c)

    def test_files_for_parameters_with_strides(self):
        kernel = ("def add(float(N,M) A strides(lda, 1), float(N,M) B strides(0, 1), float(N,M) Y strides(1, ldy)) -> (Y) "
                  "{ Y(i,j) += A(i,j) + B(i,j) }")
        a, y = self.numbers("float32", (5, 21)), self.numbers("float32", (5, 21))
        b = np.broadcast_to(self.numbers("float32", 21), (5, 21))
        result = self.run_kernel(kernel, "Y", "--arg", "lda=32", "--arg", "ldy=7", "--check", A=a, B=b, Y=y)
        np.testing.assert_array_equal(result, y + (a + b))

    def test_a_file_whose_elements_differ_where_a_stride_of_0_repeats_one_is_refused(self):
        np.save(f"{self.folder.name}/b.npy", self.numbers("float32", (5, 21)))
        kernel = "def f(float(N,M) B strides(0, 1)) -> (C) { C(i,j) = B(i,j) }"
        words = [FERRY, "run", "-e", kernel, "--arg", f"B=@{self.folder.name}/b.npy"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected equal elements where its strides let several share one place", done.stderr)

    def test_a_uint64_scalar_keeps_all_its_bits(self):
        kernel = "def f(uint64(N) A, uint64 s) -> (C) { C(i) = A(i) + s }"
        a = np.arange(4, dtype=np.uint64)
        for s in (0, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 12345, 2**64 - 5):
            c = self.run_kernel(kernel, "C", "--arg", f"s={s}", A=a)
            np.testing.assert_array_equal(c, a + np.uint64(s))

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

    def test_remainder_of_floats(self):
        a = self.random.uniform(-99, 99, 200).astype(np.float32)
        b = self.random.uniform(0.5, 9, 200).astype(np.float32) * self.random.choice([-1, 1], 200).astype(np.float32)
        kernel = "def f(float(N) A, float(N) B) -> (C, D) { C(i) = A(i) % B(i)  D(i) = A(i) % 2.5 }"
        np.testing.assert_array_equal(self.run_kernel(kernel, "C", A=a, B=b), a % b)
        np.testing.assert_array_equal(self.run_kernel(kernel, "D", A=a, B=b), a % np.float32(2.5))

    def test_small_results_are_printed_as_numpy_prints_them(self):
        out = self.ferry("run", "-e", "def half(float64(N) A) -> (B) { B(i) = A(i) / 8 }", "--arg", "A=f64[9]:iota")
        self.assertIn(str(np.arange(9) / 8), out)


if __name__ == "__main__":
    unittest.main()
