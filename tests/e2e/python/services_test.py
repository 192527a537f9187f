"""services_test.py SOURCE_DIR BINARY_DIR: Python compiles, checks, measures and compares, here and on other devices."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx

import ferry
from ferry.measurements import rows, seconds_text

SOURCE, BINARY = map(Path, sys.argv[1:3])
del sys.argv[1:3]
os.environ.pop("FERRY_REMOTE", None)

TWICE = "def twice(float(N) A) -> (B) { B(i) = A(i) * 2 }"


class ServicesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ferry.connect()
        cls.twice = cls.device.compile(TWICE)["twice"]

    @classmethod
    def tearDownClass(cls):
        del cls.twice, cls.device

    def product(self, n):
        rng = np.random.default_rng(n)
        a, b = rng.normal(size=(13, n)).astype(np.float32), rng.normal(size=(n, 7)).astype(np.float32)
        text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
        return self.device.compile(text)["mm"], a, b

    def test_results_of_others_are_held_against_the_definition_in_any_order_of_additions(self):
        mm, a, b = self.product(2048)
        ferry.testing.assert_close(a @ b, mm, a, b)
        ferry.testing.assert_close(a.astype(np.float64).dot(b).astype(np.float32), mm, a, b)
        ferry.testing.assert_close(mm(a, b), mm, a, b, random=True)
        ferry.testing.assert_close(np.zeros((0, 7), np.float32), mm, a[:0], b)

    def test_a_wrong_result_is_an_assertion_that_names_the_element(self):
        mm, a, b = self.product(2048)
        wrong = a @ b
        wrong[12, 6] += 0.1
        with self.assertRaisesRegex(AssertionError, r"^mm: C\[12,6\] is -?[0-9.]+, expected -?[0-9.]+"):
            ferry.testing.assert_close(wrong, mm, a, b, random=True)
        ferry.testing.assert_close(wrong, mm, a, b, atol=0.2)
        ferry.testing.assert_close(wrong, mm, a, b)  # additions in the worst order could come to that
        half = a.astype(np.float16).astype(np.float32) @ b.astype(np.float16).astype(np.float32)
        with self.assertRaises(AssertionError):
            ferry.testing.assert_close(half, mm, a, b, random=True)

    def test_several_outputs_and_integers_are_compared_and_what_does_not_fit_is_refused(self):
        text = "def two(int32(N) A, int32 s) -> (B, C) { B(i) = A(i) + s  C(i) = A(i) * A(i) }"
        two = self.device.compile(text)["two"]
        array = np.arange(-5, 6, dtype=np.int32)
        ferry.testing.assert_close((array + 3, array * array), two, array, 3)
        with self.assertRaisesRegex(AssertionError, r"^two: C\[10\] is 26, expected 25"):
            other = array * array
            other[10] += 1
            ferry.testing.assert_close((array + 3, other), two, array, 3)
        with self.assertRaisesRegex(ferry.UsageError, r"C: expected i32\[11\], got f32\[11\]"):
            ferry.testing.assert_close((array + 3, array.astype(np.float32)), two, array, 3)
        with self.assertRaisesRegex(ferry.UsageError, "expected a result for C too, got none"):
            ferry.testing.assert_close((array + 3,), two, array, 3)
        with self.assertRaisesRegex(TypeError, "expected 2 arguments, got 1"):
            ferry.testing.assert_close((array, array), two, array)

    def test_a_measurement_has_times_and_says_how_they_were_taken(self):
        array = np.random.default_rng(1).normal(size=10_007).astype(np.float32)
        found = self.twice.bench(array, repeat=8, min_repeat_ms=0.5, threads=1, peak=False)
        self.assertEqual((found.function, found.sizes), ("twice", {"N": 10_007}))
        self.assertGreaterEqual(len(found.seconds), 8)
        low, high = found.interval
        self.assertTrue(0 < low <= found.median <= high)
        self.assertEqual(found.flops, 10_007)
        self.assertEqual(found.bytes, 8 * 10_007)
        self.assertIn(found.inputs, ("fresh", "repeated"))
        self.assertIn("inputs " + found.inputs, dict(rows(found))["method"])
        self.assertRegex(repr(found), r"^twice: \d.* on ")
        self.assertIn("<th>median</th>", found._repr_html_())
        warm = self.twice.bench(A=array, repeat=6, min_repeat_ms=0.5, threads=1, peak=False, warm=True)
        self.assertNotEqual(warm.inputs, "fresh")

    def test_times_have_three_digits_and_a_unit(self):
        shown = [seconds_text(seconds) for seconds in (2.0, 0.0123, 4.56e-5, 7.89e-10)]
        self.assertEqual(shown, ["2.00 s", "12.3 ms", "45.6 us", "0.789 ns"])

    def test_a_right_kernel_is_fine_and_a_wrong_one_is_not(self):
        array = np.linspace(-3, 3, 1009, dtype=np.float32)
        self.assertTrue(ferry.check(self.twice, array).is_fine)
        self.assertTrue(ferry.check(self.twice, sizes={"N": 31}, seed=5).is_fine)
        elsewhere = self.device.load(self.device.compile(TWICE).compiled)["twice"]  # the module contains the definition
        self.assertTrue(ferry.check(elsewhere, array).is_fine)
        ferry.testing.assert_close(2 * array, elsewhere, array)
        with self.assertRaises(AssertionError):
            ferry.testing.assert_close(3 * array, elsewhere, array)
        n = ferry.te.var("N")
        a = ferry.te.placeholder((n,), "A")
        of_expressions = self.device.compile(ferry.te.program("f", [a], ferry.te.compute((n,), lambda i: 2 * a[i], "B")))["f"]
        with self.assertRaises(ferry.UsageError):
            ferry.check(of_expressions, array)
        self.assertEqual(ferry.compare(self.twice, elsewhere, [array], processes=3).difference, "")

    def test_a_schedule_with_serial_loops_is_slower_and_computes_the_same(self):
        text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
        fast, slow = (self.device.compile(text, schedule=schedule)["mm"] for schedule in ("", "def mm\n"))
        a, b = (np.random.default_rng(seed).normal(size=(64, 64)).astype(np.float32) for seed in (1, 2))
        found = ferry.compare(slow, fast, [a, b], processes=3, warm=True)
        self.assertEqual(found.difference, "")
        self.assertEqual(len(found.ratios), 3)
        self.assertIn(found.verdict, ("a slower", "b slower", "no difference", "unknown"))
        self.assertIn("<th>verdict</th>", found._repr_html_())

    def test_kernels_that_compute_something_else_are_not_compared(self):
        other = self.device.compile(TWICE.replace("* 2", "* 3"))["twice"]
        found = ferry.compare(self.twice, other, [np.ones(100, np.float32)], processes=3)
        self.assertRegex(found.difference, r"^B\[")
        self.assertEqual(found.ratios, [])

    def test_a_kernel_in_c_is_called_like_any_other(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "saxpy.c"
            file.write_text("void saxpy(long n, float a, const float* x, float* y) {\n"
                            "  for (long i = 0; i < n; ++i) y[i] += a * x[i];\n}\n")
            saxpy = self.device.compile(file, signature="saxpy(i64 n, f32 a, in f32[n] x, inout f32[n] y)")["saxpy"]
        x, y = np.float32([1, 2, 3]), np.float32([10, 20, 30])
        self.assertEqual(saxpy(3, 2.0, x, y).numpy().tolist(), [12, 24, 36])

    def test_a_kernel_that_returns_a_number_has_failed_and_the_session_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "half.c"
            file.write_text("#include <stdint.h>\nint32_t half(float* x) { if (x[0] < 0) return 7; x[0] /= 2; return 0; }\n")
            half = self.device.compile(file, signature="i32 half(inout f32[1] x)")["half"]
        with self.assertRaisesRegex(ferry.Error, "it returned 7"):
            half(np.float32([-1]))
        self.assertEqual(half(np.float32([8])).numpy()[0], 4)

    def test_a_network_runs_from_its_file(self):
        node = onnx.helper.make_node("Relu", ["x"], ["y"])
        described = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", 3]) for name in "xy"]
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "net", described[:1], described[1:]),
                                       opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model, f"{folder}/net.onnx")
            module = self.device.compile(Path(folder) / "net.onnx")
        net = module[module.functions[0]]
        x = np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)
        np.testing.assert_array_equal(net(x).numpy(), np.maximum(x, 0))

    def test_a_module_is_kept_in_a_file_and_loaded_again(self):
        with tempfile.TemporaryDirectory() as folder:
            ferry.compile(TWICE, self.device.target).save(f"{folder}/twice.ferry")
            compiled = ferry.CompiledModule.open(f"{folder}/twice.ferry")
        self.assertEqual(compiled.functions, ["twice"])
        self.assertIn("B(i) = A(i) * 2", compiled.source)
        self.assertEqual(self.device.load(compiled)["twice"]([1, 2]).numpy().tolist(), [2, 4])

    def test_a_sweep_measures_every_point_and_shows_them_as_a_table(self):
        sweep = ferry.sweep(self.twice, {"N": "64..256"}, repeat=6, min_repeat_ms=0.1)
        self.assertEqual([one.sizes for one in sweep], [{"N": 64}, {"N": 128}, {"N": 256}])
        self.assertEqual(sweep.values(sweep[1]), (128,))
        self.assertTrue(all(one.median > 0 for one in sweep))
        names, *points = sweep.rows()
        self.assertEqual((names[0], [row[0] for row in points]), ("N", ["64", "128", "256"]))
        self.assertEqual(len(str(sweep).splitlines()), 4)
        self.assertRegex(repr(sweep), r"^3 points over N, [0-9.]+ \w+ to [0-9.]+ \w+$")
        self.assertEqual(sweep._repr_html_().count("<tr>"), 4)
        text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
        mm = self.device.compile(text, schedule="C: split m $rows in {4,2} -> mo mi\n")["mm"]
        sweep = ferry.sweep(mm, {"M": [9, 5], "rows": None}, sizes={"K": 7, "N": 6}, repeat=6, min_repeat_ms=0.1)
        self.assertEqual([sweep.values(one) for one in sweep], [(9, 4), (9, 2), (5, 4), (5, 2)])
        self.assertEqual(sweep.failures, [])
        with self.assertRaisesRegex(ferry.UsageError, "columns"):
            ferry.sweep(mm, {"columns": [1]}, sizes={"M": 3, "K": 7, "N": 6})
        with self.assertRaisesRegex(ValueError, "expected something to vary"):
            ferry.sweep(mm, {})
        with self.assertRaisesRegex(ferry.UsageError, "N=2^8..2^24|expected"):
            ferry.sweep(self.twice, {"N": "many"})

    def test_another_process_serves_and_its_end_is_told(self):
        server = subprocess.Popen(
            [SOURCE / "build/device/x86_64/dynamic/rpc_server", "--port", "0", "--insecure-plaintext", "--quiet"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = re.search(r":(\d+)", server.stdout.readline()).group(1)
            remote = ferry.connect(f"plaintext://127.0.0.1:{port}")
            twice = remote.compile(TWICE)["twice"]
            self.assertEqual(twice([4]).numpy().tolist(), [8])
            server.kill()
            server.wait()
            with self.assertRaises(ferry.ConnectionLost) as caught:
                twice([4]).numpy()
            self.assertIsInstance(caught.exception, ConnectionError)
        finally:
            server.kill()
            server.wait()
            server.stdout.close()

    def test_ctrl_c_ends_a_wait_at_once_and_the_session_with_it(self):
        device = ferry.connect()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "forever.c"
            file.write_text("void forever(float* x) { for (volatile long i = 0;; ++i) x[0] = 1; }\n")
            forever = device.compile(file, signature="forever(inout f32[1] x)")["forever"]
        pressed = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
        begin = time.monotonic()
        pressed.start()
        with self.assertRaises(KeyboardInterrupt):
            forever(np.ones(1, np.float32)).numpy()
        self.assertLess(time.monotonic() - begin, 30)  # no call of this machine's own server has an end
        with self.assertRaises(ferry.ConnectionLost):
            device.put(np.ones(1, np.float32)).numpy()
        self.assertEqual(ferry.connect().put([1.0]).numpy().tolist(), [1])

    def test_nobody_answers(self):
        with self.assertRaises(ferry.Error) as caught:
            ferry.connect("plaintext://127.0.0.1:1")
        self.assertEqual(caught.exception.code, "unavailable")

    def test_importing_the_package_loads_nothing_that_takes_long(self):
        code = "import sys, ferry; print(*sys.modules)"
        loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
        slow = {"asyncio", "dataclasses", "html", "inspect", "json", "matplotlib", "numpy", "subprocess", "tempfile"}
        self.assertEqual(slow & set(loaded), set())
        self.assertIn("ferry.te", loaded)

    def test_the_stub_describes_the_extension(self):
        with tempfile.NamedTemporaryFile(suffix=".pyi") as file:
            subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-P", "-m", "ferry._ferry", "-o", file.name, "-q"],
                           check=True)
            generated = Path(file.name).read_text()
        kept = (SOURCE / "host/python/ferry/_ferry.pyi").read_text()
        self.assertEqual(generated, kept, "python -m nanobind.stubgen -P -m ferry._ferry -o host/python/ferry/_ferry.pyi")

    @unittest.skipUnless(find_spec("pytest"), "the types of the plugin need pytest: run scripts/setup.sh")
    def test_mypy_accepts_the_package_and_what_the_page_says_in_strict_mode(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "page.py"
            file.write_text("\n".join(re.findall(r"```python\n(.*?)```", (SOURCE / "docs/python.md").read_text(), re.DOTALL)))
            done = subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", "--cache-dir", BINARY / "mypy", "-p", "ferry"],
                cwd=BINARY / "python", capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", BINARY / "mypy", file],
                                  env={**os.environ, "MYPYPATH": str(BINARY / "python")}, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
