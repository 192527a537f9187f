"""mixed_devices_test.py FERRY: a network of which an OpenCL device leaves a part to the processor beside it.

The device is PoCL, which compiles each kernel for this processor.
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FERRY = sys.argv.pop(1)
LENGTH = 4999


def model():
    """Sums that depend on one another, between nodes that a GPU computes."""
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["a"], "first"),
        helper.make_node("Softmax", ["a"], ["b"], "soft", axis=1),
        helper.make_node("CumSum", ["b", "axis"], ["c"], "sum"),
        helper.make_node("Mul", ["c", "w"], ["d"], "scaled"),
        helper.make_node("Softmax", ["d"], ["y"], "last", axis=1),
    ]
    weights = [numpy_helper.from_array(np.array([[1.5], [0.5], [2]], np.float32), "w"),
               numpy_helper.from_array(np.array(1, np.int64), "axis")]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, LENGTH])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, LENGTH])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class MixedDevicesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.net = self.root / "net.onnx"
        onnx.save(model(), self.net)
        self.x = np.random.default_rng(1).standard_normal((3, LENGTH), np.float32)
        np.save(self.root / "x.npy", self.x)

    def ferry(self, *words, code=0):
        done = subprocess.run([FERRY, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def check_result(self, *words):
        y = self.root / "y.npy"
        y.unlink(missing_ok=True)
        said = self.ferry("run", *words, "--arg", f"x=@{self.root}/x.npy", "--out", f"y=@{y}")
        expected = onnxruntime.InferenceSession(str(self.net)).run(None, {"x": self.x})[0]
        self.assertLess(np.abs(np.load(y) - expected).max(), 1e-4 * np.abs(expected).max())
        return said

    def test_run_names_what_the_processor_computes_and_why(self):
        _, notes = self.check_result(self.net, "--target", "opencl")
        self.assertIn("note: node 'sum+scaled' (cumulative_sum_mul) runs on the CPU beside the GPU: expected at least 32 "
                      "sequences to compute at once, got 3", notes)
        _, notes = self.check_result(self.net, "--target", "opencl -host=none")
        self.assertNotIn("note:", notes)

    def test_each_kernel_is_checked(self):
        report = json.loads(self.ferry("run", self.net, "--target", "opencl", "--check", "--json")[0])
        self.assertEqual([check["output"] for check in report["check"]],
                         ["first", "soft", "sum+scaled", "last", "y of the whole network"])
        self.assertEqual(sum(check["wrong"] for check in report["check"]), 0)

    def test_bench_names_the_device_of_each_step(self):
        words = ["bench", self.net, "--target", "opencl", "--repeat", 3, "--max-repeat", 3]
        steps = json.loads(self.ferry(*words, "--json")[0])["results"][0]["steps"]
        self.assertEqual([(step["kind"], step["device"]) for step in steps if step["kind"] != "launch"],
                         [("copy", "cpu"), ("call", "cpu"), ("copy", "opencl")])
        self.assertEqual({step["device"] for step in steps if step["kind"] == "launch"}, {"opencl"})
        self.assertAlmostEqual(sum(step["share"] for step in steps), 1, delta=0.01)
        table = self.ferry(*words)[0]
        header = next(line for line in table.splitlines() if "kernel" in line and "median" in line)
        self.assertLess(header.index("kernel"), header.index("device"))
        self.assertRegex(table, r"copy of b to cpu +\(copy\) +cpu ")

    def test_a_module_is_compiled_for_a_named_processor_shown_and_run(self):
        module = self.root / "net.ferry"
        target = "opencl -host=host"
        self.ferry("compile", self.net, "--target", target, "-o", module)
        self.check_result(module)
        text = self.ferry("inspect", module)[0]
        self.assertRegex(text, r"(?m)^needs +opencl, ABI")
        self.assertRegex(text, r"(?m)^  step +copy of b to cpu u8\[59988\]: cpu: copy ")
        self.assertRegex(text, r"(?m)^  step +sum\+scaled f32\[3,4999\]: cpu: call ")
        self.assertRegex(text, r"(?m)^  step +last f32\[3,4999\]: opencl: launch ")
        inspected = json.loads(self.ferry("inspect", module, "--json")[0])
        self.assertEqual([device["kind"] for device in inspected["devices"]], ["opencl", "cpu"])
        self.assertEqual(len(inspected["functions"][0]["step_devices"]), len(inspected["functions"][0]["steps"]))
        plan = self.ferry("compile", self.net, "--target", target, "--emit", "plan")[0]
        self.assertIn("copy of b to cpu\n  cpu: copy ", plan)
        self.assertIn("sum+scaled\n  cpu: call ", plan)
        # Nothing is known of the processor here, so all of it is on the GPU.
        self.assertNotIn("call", self.ferry("compile", self.net, "--target", "opencl", "--emit", "plan")[0])


if __name__ == "__main__":
    unittest.main()
