"""fused_windows_test.py FERRY: depthwise convolutions that are computed with the convolution before them compute what loops
in double precision do, whether they are one kernel or two."""
import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FERRY = sys.argv.pop(1)
RANDOM = np.random.default_rng(5)


def convolution(x, weights, bias, stride, groups):
    """In double precision, with half of the window around the image."""
    around = weights.shape[2] // 2
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (around, around), (around, around)))
    rows, columns = ((size - 1) // stride + 1 for size in x.shape[2:])
    y = np.zeros((x.shape[0], weights.shape[0], rows, columns))
    size = weights.shape[1]
    for filter, group in ((f, f * groups // weights.shape[0]) for f in range(weights.shape[0])):
        for i, j in itertools.product(range(weights.shape[2]), repeat=2):
            part = padded[:, group * size:(group + 1) * size, i::stride, j::stride][:, :, :rows, :columns]
            y[:, filter] += np.einsum("nchw,c->nhw", part, weights[filter, :, i, j].astype(np.float64))
        y[:, filter] += bias[filter]
    return y


class Network:
    """A convolution, a depthwise one, and a pointwise one, with or without activations between them."""

    def __init__(self, channels, size, kernel, stride, is_active):
        first, middle, last = channels
        self.kernel, self.stride, self.is_active, self.size = kernel, stride, is_active, size
        weights = [(middle, first, kernel[0], kernel[0]), (middle, 1, kernel[1], kernel[1]), (last, middle, 1, 1)]
        self.weights = [(RANDOM.standard_normal(shape) / np.prod(shape[1:]) ** 0.5).astype(np.float32)
                        for shape in weights]
        self.biases = [RANDOM.standard_normal(shape[0]).astype(np.float32) for shape in weights]
        self.groups = [1, middle, 1]
        self.x = RANDOM.standard_normal((2, first, *size)).astype(np.float32)

    def expected(self):
        x = self.x
        for weights, bias, groups, stride in zip(self.weights, self.biases, self.groups, (1, self.stride, 1)):
            x = convolution(x, weights, bias, stride, groups)
            if self.is_active:
                x = np.clip(x, 0, 6)
        return x

    def model(self):
        initial = [numpy_helper.from_array(np.float32(0), "low"), numpy_helper.from_array(np.float32(6), "high")]
        nodes, x = [], "x"
        for number, (weights, bias, groups, stride) in enumerate(
                zip(self.weights, self.biases, self.groups, (1, self.stride, 1))):
            initial += [numpy_helper.from_array(weights, f"w{number}"), numpy_helper.from_array(bias, f"b{number}")]
            y = "y" if number == 2 and not self.is_active else f"conv{number}"
            nodes.append(helper.make_node("Conv", [x, f"w{number}", f"b{number}"], [y], group=groups, strides=[stride] * 2,
                                          pads=[weights.shape[2] // 2] * 4))
            x = y
            if self.is_active:
                x = "y" if number == 2 else f"clip{number}"
                nodes.append(helper.make_node("Clip", [y, "low", "high"], [x]))
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", channels, None, None] if name == "y" else
                                               ["batch", channels, *self.size])
                 for name, channels in (("x", self.weights[0].shape[1]), ("y", self.weights[2].shape[0]))]
        graph = helper.make_graph(nodes, "net", infos[:1], infos[1:], initial)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


class FusedWindowsTest(unittest.TestCase):
    def check(self, network, l2_bytes, fix, what):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            onnx.save(network.model(), folder / "net.onnx")
            np.save(folder / "x.npy", network.x)
            words = [folder / "net.onnx", *fix, "--winograd", "off", "--target",
                     f"llvm -l2-bytes={l2_bytes}"]
            done = subprocess.run([FERRY, "run", *words, "--arg", f"x=@{folder / 'x.npy'}", "--out",
                                   f"y=@{folder / 'y.npy'}"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, what + done.stderr)
            np.testing.assert_allclose(np.load(folder / "y.npy"), network.expected(), rtol=2e-5, atol=2e-5, err_msg=what)
            return subprocess.run([FERRY, "compile", *words, "--emit", "groups"], capture_output=True, text=True,
                                  check=True).stdout

    def test_one_kernel_and_two_compute_what_loops_do(self):
        # With images that exceed a quarter of the cache, and such that do not; rows, columns and channels that no tile
        # divides; windows of one pixel, of which all rows of an image could be one row, but for the window after it.
        for channels, size, kernel, stride, is_active in (
                ((32, 96, 32), (28, 28), (1, 3), 1, True), ((20, 70, 33), (19, 23), (1, 5), 2, True),
                ((32, 64, 32), (17, 16), (1, 3), 1, False), ((17, 80, 64), (24, 13), (3, 3), 2, True)):
            network = Network(channels, size, kernel, stride, is_active)
            for l2_bytes, fix in itertools.product((16384, 1 << 17, 1 << 26), ([], ["--fix", "batch=2"])):
                what = f"{channels} channels, {size}, windows {kernel}, stride {stride}, L2 of {l2_bytes}, {fix}: "
                groups = self.check(network, l2_bytes, fix, what)
                if "NCHW" in groups:
                    self.assertEqual("fuses_input" in groups, l2_bytes < 1 << 26, what + groups)


if __name__ == "__main__":
    unittest.main()
