"""networks_long_test.py FERRY: programs of emulated machines compute ResNet-18 as ONNX Runtime does."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples/networks"))

import exported
import models
import numpy as np
import onnx
import onnxruntime

exported.FERRY = sys.argv.pop(1)


class NetworksLongTest(unittest.TestCase):
    def test_resnet18_runs_on_armv7_aarch64_and_riscv64(self):
        x = np.random.default_rng(3).standard_normal((1, 3, 224, 224), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            network = Path(folder) / "resnet18.onnx"
            onnx.save(models.resnet18(), network)
            expected = onnxruntime.InferenceSession(network).run(None, {"x": x})[0]
            for target in exported.TARGETS[1:]:
                with self.subTest(target[0]):
                    y = exported.run_driver(folder, network, x, expected.shape, target)
                    self.assertLess(np.abs(y - expected).max(), 1e-4 * np.abs(expected).max())


if __name__ == "__main__":
    unittest.main()
