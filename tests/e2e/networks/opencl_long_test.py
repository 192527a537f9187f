"""opencl_long_test.py RUN_NETWORKS FERRY: networks and a tenth of ONNX's own tests of single operators on an OpenCL device.

The device is PoCL, which compiles each kernel for this processor. Cases that ferry does not import are left to
node_cases_test.py.
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import models
import numpy as np
import onnx
import onnxruntime

from node_case_checks import NodeCaseChecks
from node_cases import all_cases, sample

FERRY = sys.argv.pop(2)
RUN_NETWORKS = sys.argv.pop(1)
# The number of cases that pass; it only grows.
AT_LEAST = 157
NETWORKS = {
    "resnet18": (models.resnet18, (1, 3, 224, 224)),
    "mobilenet_v2": (models.mobilenet_v2, (1, 3, 224, 224)),
    "mobilenet_v3_small": (models.mobilenet_v3_small, (1, 3, 224, 224)),
    "squeezenet": (models.squeezenet, (1, 3, 224, 224)),
    "encoder": (models.encoder, (2, 70, 96)),
}


class OpenClLongTest(NodeCaseChecks):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def ferry(self, *words):
        done = subprocess.run([FERRY, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_kernels_compute_what_onnx_defines(self):
        self.check_kernels("opencl", sample(all_cases()), AT_LEAST, RUN_NETWORKS, "x86_64", "opencl")

    def test_networks_compute_what_onnx_runtime_computes(self):
        for name, (make, shape) in NETWORKS.items():
            with self.subTest(name):
                model, path = make(), self.root / f"{name}.onnx"
                onnx.save(model, path)
                x = np.random.default_rng(1).standard_normal(shape, np.float32)
                np.save(self.root / "x.npy", x)
                output = model.graph.output[0].name
                self.ferry("run", path, "--target", "opencl", "--arg", f"x=@{self.root}/x.npy", "--out",
                           f"{output}=@{self.root}/y.npy")
                expected = onnxruntime.InferenceSession(str(path)).run(None, {"x": x})[0]
                found = np.load(self.root / "y.npy")
                self.assertEqual(found.shape, expected.shape)
                self.assertLess(np.abs(found - expected).max(), 1e-4 * np.abs(expected).max())

    def test_a_network_is_checked_timed_and_compared(self):
        onnx.save(models.squeezenet(62, 10), self.root / "net.onnx")
        words = [self.root / "net.onnx", "--target", "opencl", "--size", "batch=1"]
        report = json.loads(self.ferry("run", *words, "--check", "--json"))
        self.assertGreater(len(report["check"]), 20)
        self.assertEqual(sum(check["wrong"] for check in report["check"]), 0)
        report = json.loads(self.ferry("bench", *words, "--repeat", 3, "--max-repeat", 3, "--json"))["results"][0]
        self.assertAlmostEqual(sum(step["share"] for step in report["steps"]), 1, delta=0.01)
        self.ferry("compile", self.root / "net.onnx", "--target", "opencl", "-o", self.root / "net.ferry")
        self.assertIn("opencl", self.ferry("inspect", self.root / "net.ferry"))
        self.ferry("compare", self.root / "net.ferry", self.root / "net.ferry", "--size", "batch=1", "--processes", 3)


if __name__ == "__main__":
    unittest.main()
