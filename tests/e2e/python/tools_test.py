"""tools_test.py SOURCE_DIR BINARY_DIR: kernels in files, networks, export, tuning and the gate from Python."""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx

import ferry
from ferry.verdicts import FINE

SOURCE = Path(sys.argv[1])
del sys.argv[1:3]
os.environ.pop("FERRY_REMOTE", None)

MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


class ToolsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ferry.connect()
        cls.here = ferry.connect("inproc://")

    @classmethod
    def tearDownClass(cls):
        cls.device.close()

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="ferry-tools-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.random = np.random.default_rng(3)

    def test_a_kernel_in_c_has_its_signature_and_flags_with_it(self):
        file = self.folder / "saxpy.c"
        file.write_text("void saxpy(long n, float a, const float* x, float* y) {\n"
                        "  for (long i = 0; i < n; ++i) y[i] += FACTOR * a * x[i];\n}\n")
        kernel = ferry.c(file, "saxpy(i64 n, f32 a, in f32[n] x, inout f32[n] y)", cflags="-DFACTOR=2 -O2")
        x, y = self.random.normal(size=(2, 101)).astype(np.float32)
        for device in (self.device, self.here):
            saxpy = kernel.on(device)
            np.testing.assert_allclose(saxpy(101, 3.0, x, y).numpy(), y + 6 * x, rtol=1e-6, atol=1e-6)
            saxpy = device.compile(kernel)["saxpy"]
            expected, changed = y + 3 * x, y.copy()
            saxpy(101, 1.5, x, changed, out=changed)
            np.testing.assert_allclose(changed, expected, rtol=1e-6, atol=1e-6)
        with self.assertRaises(ferry.UsageError):
            ferry.c(self.folder / "none.c", "f()").on(self.device)

    def network(self):
        make = onnx.helper.make_node
        nodes = [make("MatMul", ["x", "w"], ["h"]), make("Relu", ["h"], ["scores"]), make("Neg", ["h"], ["minus"])]
        described = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
                     for name, shape in (("x", ["batch", 5]), ("scores", ["batch", 3]), ("minus", ["batch", 3]))]
        weights = self.random.normal(size=(5, 3)).astype(np.float32)
        graph = onnx.helper.make_graph(nodes, "net", described[:1], described[1:],
                                       [onnx.numpy_helper.from_array(weights, "w")])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, self.folder / "net.onnx")
        return self.folder / "net.onnx", weights

    def test_a_network_has_its_outputs_by_name_and_takes_any_batch(self):
        file, weights = self.network()
        x = self.random.normal(size=(11, 5)).astype(np.float32)
        for device in (self.device, self.here):
            net = ferry.onnx(file).on(device)
            self.assertEqual((net.inputs, net.outputs), (["x"], ["scores", "minus"]))
            found = net(x=x)
            np.testing.assert_allclose(found["scores"].numpy(), np.maximum(x @ weights, 0), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(net(x[:2])["minus"].numpy(), -(x[:2] @ weights), rtol=1e-4, atol=1e-5)
            parts = list(net.batches(4, x))
            self.assertEqual([len(part["scores"]) for part in parts], [4, 4, 3])
            np.testing.assert_allclose(np.concatenate([part["minus"] for part in parts]), -(x @ weights),
                                       rtol=1e-4, atol=1e-5)
        one = ferry.onnx(file).on(self.device, fix={"batch": 1})
        np.testing.assert_allclose(one(x[:1])["minus"].numpy(), -(x[:1] @ weights), rtol=1e-4, atol=1e-5)
        with self.assertRaises(ferry.UsageError):
            one(x)
        with self.assertRaisesRegex(ValueError, "at least 1 row, got 0"):
            list(net.batches(0, x))

    def test_what_is_exported_computes_the_same_without_ferry(self):
        files = ferry.export(MATMUL, self.folder / "mm", shared=True, fix={"K": 7})
        library = next(file for file in files if file.suffix == ".so")
        header = next(file for file in files if file.suffix == ".h").read_text()
        self.assertIn("mm", header)
        self.assertTrue(all(file.exists() for file in files))
        done = subprocess.run(["make", "-C", self.folder / "mm"], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNotNone(ctypes.CDLL(str(library)))
        exported = ferry.export(ferry.onnx(self.network()[0]), self.folder / "net", target="raspberry-pi-4")
        self.assertIn("net.o", [file.name for file in exported])
        with self.assertRaisesRegex(TypeError, "expected a text or the path of a file, got int"):
            ferry.export(5, self.folder / "five")
        with self.assertRaises(ferry.CompileError):
            ferry.export("def f(", self.folder / "f")

    def test_a_search_reports_each_trial_and_ends_when_it_is_told_to(self):
        seen = []
        found = ferry.tune(MATMUL, sizes={"M": 32, "N": 32, "K": 32}, budget=5, trials=4, on_trial=seen.append,
                           records=str(self.folder / "records.jsonl"), processes=0)
        self.assertEqual((found.function, found.trials), ("mm", seen))
        self.assertEqual(len(seen), 4)
        self.assertEqual({trial.function for trial in seen}, {"mm"})
        self.assertGreater(found.default_seconds, 0)
        self.assertTrue((self.folder / "records.jsonl").exists())
        self.assertIn("4 trials", repr(found))
        self.assertIn("<th>trials</th>", found._repr_html_())
        best = self.device.compile(MATMUL, function="mm", point=found.point, fix={"M": 32, "N": 32, "K": 32})["mm"]
        a, b = self.random.normal(size=(2, 32, 32)).astype(np.float32)
        np.testing.assert_allclose(best(a, b).numpy(), a @ b, rtol=1e-4, atol=1e-4)
        ended = ferry.tune(MATMUL, sizes={"M": 32, "N": 32, "K": 32}, budget=60, on_trial=lambda trial: True,
                           records=str(self.folder / "records.jsonl"), processes=0)
        self.assertTrue(ended.is_interrupted)
        with self.assertRaisesRegex(ferry.CompileError, "expected a parameter"):
            ferry.tune("def f(", sizes={})
        with self.assertRaises(ferry.Error) as caught:
            ferry.tune(MATMUL, sizes={"M": 3, "N": 3, "K": 3}, remote="plaintext://127.0.0.1:1")
        self.assertEqual(caught.exception.code, "unavailable")

    def test_the_gate_says_what_became_of_each_case(self):
        (self.folder / "one.tc").write_text("def one(float(N) A) -> (B) { B(i) = A(i) + 1 }")
        (self.folder / "two.tc").write_text("def two(float(N) A) -> (B) { B(i) = A(i) * 2 }")
        suite = self.folder / "suite.toml"
        suite.write_text("".join(f'[cases.{name}]\nkernel = "{name}.tc"\nsizes = "N=1000"\n' for name in ("one", "two")))
        store = str(self.folder / "store")
        first = ferry.gate(suite, store=store)
        self.assertEqual([verdict.verdict for verdict in first], ["first", "first"])
        self.assertTrue(first.is_fine)
        (self.folder / "two.tc").write_text("def two(float(N) A) -> (B) { B(i) = A(i) * 3 }")
        second = ferry.gate(suite, store=store)
        self.assertEqual((second["one"].verdict, second["two"].verdict), ("unchanged", "wrong"))
        self.assertTrue(second["one"].is_fine and not second["two"].is_fine and not second.is_fine)
        self.assertEqual(second.exit_code, 1)
        self.assertRegex(second["two"].reason, r"B\[0\] is")
        self.assertIn("two on this machine: wrong", str(second))
        self.assertIn("<td>wrong</td>", second._repr_html_())
        only = ferry.gate(suite, store=store, cases=["one"], update=True)
        self.assertEqual(len(only.verdicts), 1)
        names = json.loads((SOURCE / "docs/gate.schema.json").read_text())["$defs"]["verdict"]["enum"]
        self.assertLess(set(FINE), set(names))
        with self.assertRaisesRegex(ferry.UsageError, "cannot be read"):
            ferry.gate(self.folder / "none.toml")
        with self.assertRaises(KeyError):
            first["three"]


if __name__ == "__main__":
    unittest.main()
