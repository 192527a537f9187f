"""int8_test.py FERRY: fused groups of quantized networks are at most one unit off their definition in float64."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import models
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from quantized_reference import Reference

FERRY = sys.argv.pop(1)
SHAPE = (1, 3, 61, 61)
# The share of elements that may be one unit off: only where the definition comes within a few roundings of a tie.
LARGEST_SHARE = 1e-3


def residual_network():
    """A stem of few channels, blocks with and without a downsampling branch, and a product, of odd sizes."""
    net = models.Network("residual", list(SHAPE), opset=13)

    def block(x, inputs, outputs, stride):
        y = net.relu(net.conv(x, inputs, outputs, 3, stride, 1))
        y = net.conv(y, outputs, outputs, 3, 1, 1)
        return net.relu(net.node("Add", y, x if stride == 1 else net.conv(x, inputs, outputs, 1, stride)))

    x = net.max_pool(net.relu(net.conv("x", 3, 32, 7, 2, 3)), 3, 2, 1)
    x = block(block(block(x, 32, 32, 1), 32, 72, 2), 72, 72, 1)
    return net.model(net.linear(net.node("Flatten", net.node("GlobalAveragePool", x), axis=1), 72, 37))


class Inputs(CalibrationDataReader):
    def __init__(self):
        random = np.random.default_rng(1)
        self.inputs = iter([{"x": random.standard_normal(SHAPE, np.float32)} for _ in range(2)])

    def get_next(self):
        return next(self.inputs, None)


class Int8Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def quantized(self, activations):
        """The network with bytes of this type, whose bytes at the ends of groups are outputs."""
        onnx.save(onnx.shape_inference.infer_shapes(residual_network()), self.folder / "float.onnx")
        quantize_static(self.folder / "float.onnx", self.folder / "int8.onnx", Inputs(), quant_format=QuantFormat.QDQ,
                        per_channel=True, activation_type=activations, weight_type=QuantType.QInt8)
        model = onnx.load(self.folder / "int8.onnx")
        reference = Reference(model)
        kind = TensorProto.UINT8 if activations == QuantType.QUInt8 else TensorProto.INT8
        del model.graph.output[:], model.graph.value_info[:]
        model.graph.output.extend(helper.make_tensor_value_info(end, kind, None) for end in reference.ends())
        onnx.save(model, self.folder / "ends.onnx")
        return reference

    def run_network(self, x, ends, target):
        np.save(self.folder / "x.npy", x)
        outputs = [word for i, end in enumerate(ends) for word in ("--out", f"{end}=@{self.folder}/{i}.npy")]
        # The check allows for what rounding errors may do to the bytes too, and must find nothing wrong.
        words = [FERRY, "run", self.folder / "ends.onnx", "--quiet", "--check", "--arg", f"x=@{self.folder}/x.npy", *outputs,
                 *target]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return {end: np.load(f"{self.folder}/{i}.npy") for i, end in enumerate(ends)}

    def test_each_group_is_at_most_one_unit_off_its_definition(self):
        x = np.random.default_rng(2).standard_normal(SHAPE, np.float32)
        for activations in (QuantType.QUInt8, QuantType.QInt8):
            reference = self.quantized(activations)
            ends = reference.ends()
            self.assertGreater(len(ends), 8)
            for target in ([], ["--target", "x86-64"]):
                computed = self.run_network(x, ends, target)
                for end in ends:
                    with self.subTest(end, activations=activations, target=target):
                        expected = reference.bytes_of(end, {"x": x, **computed})
                        self.assertGreater(len(np.unique(expected)), 8)
                        units = np.abs(computed[end].astype(int) - expected.astype(int))
                        self.assertLessEqual(units.max(), 1)
                        self.assertLessEqual(np.mean(units > 0), max(LARGEST_SHARE, 1 / units.size))


if __name__ == "__main__":
    unittest.main()
