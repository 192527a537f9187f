"""contrib_test.py RUN_NETWORKS: operators of com.microsoft compute what ONNX Runtime does, with an open first dimension."""
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper
from runner import Runner

RUN_NETWORKS = sys.argv.pop(1)
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8,
         np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.bool_): TensorProto.BOOL}
RANDOM = np.random.default_rng(3)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(dtype, *shape):
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max + 1, shape).astype(dtype)


def scale(value):
    return np.float32(value)


class Given:
    """An input of the network, with the types of its calls: the first dimension is open."""
    def __init__(self, value):
        self.value = value


def quantized(dtype, *shape):
    return [Given(integers(dtype, *shape)), scale(0.05), dtype(np.iinfo(dtype).min + 97)]


def cases():
    """Names, operators, their inputs (an array is a constant, None not given), and attributes."""
    for dtype in (np.uint8, np.int8):
        name = np.dtype(dtype).name
        out = [scale(0.07), dtype(3)]
        yield f"QLinearAdd {name}", "QLinearAdd", [*quantized(dtype, 3, 5, 7), integers(dtype, 7), scale(0.03), dtype(7), *out], {}
        yield f"QLinearMul {name}", "QLinearMul", [*quantized(dtype, 3, 5, 7), *quantized(dtype, 3, 5, 1), *out], {}
        yield f"QLinearSigmoid {name}", "QLinearSigmoid", [*quantized(dtype, 3, 9), scale(1 / 256), dtype(0)], {}
        yield f"QLinearLeakyRelu {name}", "QLinearLeakyRelu", [*quantized(dtype, 3, 9), *out], {"alpha": 0.2}
        yield (f"QLinearGlobalAveragePool {name}", "QLinearGlobalAveragePool", [*quantized(dtype, 3, 5, 7, 3), scale(0.04), dtype(9)],
               {"channels_last": 0})
        yield (f"QLinearConcat {name}", "QLinearConcat",
               [scale(0.06), dtype(11), *quantized(dtype, 3, 5), *quantized(dtype, 3, 2)], {"axis": 1})
        yield (f"QLinearSoftmax {name}", "QLinearSoftmax",
               [*quantized(dtype, 3, 5, 9), scale(1 / 256), dtype(np.iinfo(dtype).min)], {"axis": -1, "opset": 13})
    yield ("QLinearSoftmax of opset 11", "QLinearSoftmax", [*quantized(np.uint8, 3, 5, 2), scale(1 / 256), np.uint8(0)],
           {"axis": 1, "opset": 11})
    yield ("QLinearGlobalAveragePool with channels last", "QLinearGlobalAveragePool",
           [*quantized(np.uint8, 3, 5, 7, 4), scale(0.04), np.uint8(9)], {"channels_last": 1})
    yield ("QLinearAveragePool", "QLinearAveragePool", [*quantized(np.uint8, 3, 2, 9, 7), scale(0.043), np.uint8(99)],
           {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]})
    a, b = [*quantized(np.uint8, 3, 11)], [integers(np.int8, 6, 11), scale(0.02), np.int8(0)]
    bias = RANDOM.integers(-999, 999, 6).astype(np.int32)
    yield "QGemm", "QGemm", [*a, *b, bias, scale(0.3), np.uint8(120)], {"transB": 1, "alpha": 1.0}
    yield "QGemm to floats", "QGemm", [*a, integers(np.int8, 11, 6), floats(6) ** 2, np.zeros(6, np.int8), bias], {}
    yield ("MatMulIntegerToFloat", "MatMulIntegerToFloat",
           [Given(integers(np.uint8, 3, 11)), integers(np.int8, 11, 6), scale(0.03), scale(0.02), np.uint8(100), np.int8(0), floats(6)], {})
    yield ("DynamicQuantizeMatMul", "DynamicQuantizeMatMul",
           [Given(floats(3, 11)), integers(np.int8, 11, 6), scale(0.02), np.int8(0), floats(6)], {})
    yield from lstm_cases()
    yield ("QLinearWhere", "QLinearWhere",
           [Given(RANDOM.integers(0, 2, (3, 5)) > 0), *quantized(np.uint8, 3, 5), *quantized(np.uint8, 3, 1), scale(0.04), np.uint8(3)], {})
    yield ("QLinearWhere of a constant", "QLinearWhere",
           [Given(RANDOM.integers(0, 2, (3, 5)) > 0), integers(np.int8, 5), scale(0.03), np.int8(7), *quantized(np.int8, 3, 5), scale(0.05),
            np.int8(-9)], {})
    for dtype in (np.uint8, np.int8):
        name, zero = np.dtype(dtype).name, dtype(np.iinfo(dtype).min + 97)
        yield f"QuantizeLinear {name}", "QuantizeLinear", [Given(floats(3, 5)), scale(0.013), zero], {}
        yield f"DequantizeLinear {name}", "DequantizeLinear", quantized(dtype, 3, 5), {}
        each = [floats(5) ** 2 + np.float32(0.01), integers(dtype, 5)]
        yield f"QuantizeLinear {name} of an axis", "QuantizeLinear", [Given(floats(3, 5, 2)), *each], {"axis": 1}
        yield f"DequantizeLinear {name} of an axis", "DequantizeLinear", [Given(integers(dtype, 3, 5, 2)), *each], {"axis": 1}
    yield "BiasGelu", "BiasGelu", [Given(floats(3, 9)), floats(9)], {}
    yield "Gelu", "Gelu", [Given(floats(3, 9))], {}
    yield "FastGelu", "FastGelu", [Given(floats(3, 9)), floats(9)], {}
    yield "QuickGelu", "QuickGelu", [Given(floats(3, 9))], {"alpha": 1.5}
    yield "FusedMatMul", "FusedMatMul", [Given(floats(3, 5, 7)), floats(9, 7)], {"transB": 1, "alpha": 0.25}
    yield "FusedMatMul of batches behind rows", "FusedMatMul", [Given(floats(5, 3, 7)), floats(3, 7, 4)], {"transBatchA": 1}
    gamma, beta = floats(9), floats(9)
    yield "SkipLayerNormalization", "SkipLayerNormalization", [Given(floats(3, 4, 9)), Given(floats(3, 4, 9)), gamma, beta, floats(9)], {
        "epsilon": 1e-5}
    yield ("SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", [Given(floats(3, 4, 9)), Given(floats(3, 4, 9)), gamma],
           {"epsilon": 1e-5})
    cosine, sine = floats(20, 4), floats(20, 4)
    for interleaved in (0, 1):
        yield (f"RotaryEmbedding {interleaved}", "RotaryEmbedding",
               [Given(floats(3, 5, 24)), np.array([2], np.int64), cosine, sine], {"interleaved": interleaved})
    yield ("RotaryEmbedding of places", "RotaryEmbedding",
           [Given(floats(3, 3, 5, 8)), Given(RANDOM.integers(0, 20, (3, 5))), cosine, sine], {})
    yield ("RotaryEmbedding of parts", "RotaryEmbedding",
           [Given(floats(3, 5, 32)), np.array([0], np.int64), cosine, sine], {"num_heads": 2, "rotary_embedding_dim": 8})
    for axis, shape in ((-1, (9,)), (1, (4, 9))):
        yield (f"SimplifiedLayerNormalization {axis}", "SimplifiedLayerNormalization", [Given(floats(3, 4, 9)), floats(*shape)],
               {"axis": axis, "epsilon": 1e-6, "stash_type": 1})
    yield from few_bits_cases()


def lstm_cases():
    """Sequences of which the first dimension, their length, is open."""
    for dtype, directions, each in ((np.int8, 1, False), (np.uint8, 2, False), (np.int8, 2, True)):
        gates = 4 * 6
        scales = [(floats(directions, *([gates] if each else [])) ** 2 * 0.01 + 0.005).astype(np.float32) for _ in range(2)]
        zeros = [np.full_like(one, 0 if each else 3, dtype) for one in scales]
        weights = [integers(dtype, directions, depth, gates) for depth in (5, 6)]
        state = floats(directions, 1, 6)
        yield (f"DynamicQuantizeLSTM {np.dtype(dtype).name} {directions} {each}", "DynamicQuantizeLSTM",
               [Given(floats(13, 1, 5)), *weights, floats(directions, 8 * 6), None, state, state * 2, None, scales[0], zeros[0], scales[1],
                zeros[1]], {"hidden_size": 6, "direction": "forward" if directions == 1 else "bidirectional"})


def few_bits_cases():
    for bits, block, depth, rows in ((4, 16, 40, 7), (4, 32, 64, 64), (8, 32, 64, 7), (4, 128, 131, 65), (8, 256, 300, 3), (2, 64, 64, 5),
                                     (4, 16, 16, 130)):
        blocks = -(-depth // block)
        packed = integers(np.uint8, rows, blocks, block * bits // 8)
        attributes = {"K": depth, "N": rows, "bits": bits, "block_size": block}
        given = [Given(floats(3, 2, depth)), packed, floats(rows, blocks) * np.float32(0.1)]
        name = f"MatMulNBits {bits} {block} {depth} {rows}"
        yield name, "MatMulNBits", given, attributes
        zeros = integers(np.uint8, rows, -(-blocks * bits // 8))
        yield f"{name} with zeros", "MatMulNBits", [*given, zeros], attributes
        if bits == 4:
            real = RANDOM.integers(0, 16, (rows, blocks)).astype(np.float32)
            yield f"{name} with zeros of floats and a bias", "MatMulNBits", [*given, real, None, floats(rows)], attributes
    for bits, block, width in ((4, 16, 64), (8, 32, 96), (4, 32, 32)):
        table, scales = integers(np.uint8, 11, width * bits // 8), floats(11, width // block)
        attributes = {"bits": bits, "block_size": block, "quantize_axis": 1, "gather_axis": 0}
        indices = Given(RANDOM.integers(-11, 11, (3, 5)))
        yield f"GatherBlockQuantized {bits} {block}", "GatherBlockQuantized", [table, indices, scales], attributes
        zeros = integers(np.uint8, 11, -(-(width // block) * bits // 8))
        yield f"GatherBlockQuantized {bits} {block} with zeros", "GatherBlockQuantized", [table, indices, scales, zeros], attributes


def build(op, inputs, attributes):
    """Returns the model, and the network's inputs."""
    infos, weights, names, feeds = [], [], [], {}
    for number, one in enumerate(inputs):
        if one is None:
            names.append("")
            continue
        names.append(f"i{number}")
        if isinstance(one, Given):
            shape = ["N", *one.value.shape[1:]]
            infos.append(helper.make_tensor_value_info(names[-1], TYPES[one.value.dtype], shape))
            feeds[names[-1]] = one.value
        else:
            weights.append(onnx.numpy_helper.from_array(np.asarray(one), names[-1]))
    domain = "" if op == "SimplifiedLayerNormalization" else "com.microsoft"
    node = helper.make_node(op, names, ["y"], name="n", domain=domain, **attributes)
    graph = helper.make_graph([node], "net", infos, [helper.make_empty_tensor_value_info("y")], weights)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), feeds


class ContribTest(unittest.TestCase):
    def check(self, runner, op, inputs, attributes, folder):
        model, feeds = build(op, inputs, attributes)
        onnx.save(model, folder / "net.onnx")
        options = ort.SessionOptions()
        options.log_severity_level = 4
        expected = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        (folder / "again").mkdir()
        calls = [(folder, feeds), (folder / "again", {name: value[1:2] for name, value in feeds.items()})]
        for at, values in calls:
            for number, value in enumerate(values.values()):
                np.save(at / f"in{number}.npy", value)
        kind, text = runner.run(folder, "once", "again")
        self.assertEqual(kind, "fine", text)
        for at, values in calls:
            value, got = expected.run(None, values)[0], np.load(at / "out0.npy")
            self.assertEqual((got.shape, got.dtype), (value.shape, value.dtype))
            if value.dtype.kind == "f":
                np.testing.assert_allclose(got, value, rtol=1e-4, atol=1e-4)
            else:
                # Quotients near the middle of two integers are rounded either way.
                apart = np.abs(got.astype(int) - value)
                self.assertLessEqual(apart.max(), 1)
                self.assertLessEqual((apart > 0).mean(), 0.1)

    def test_operators_compute_what_onnx_runtime_does(self):
        runner = Runner(RUN_NETWORKS)
        for name, op, inputs, attributes in cases():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.check(runner, op, inputs, attributes, Path(folder))
        runner.close()

    def test_rows_are_rounded_to_int8_where_the_network_allows_it(self):
        runner = Runner(RUN_NETWORKS)
        for bits, block, depth, rows in ((4, 32, 96, 70), (8, 32, 64, 5), (2, 64, 64, 64), (4, 16, 16, 7)):
            blocks = depth // block
            packed, scales = integers(np.uint8, rows, blocks, block * bits // 8), floats(rows, blocks) * np.float32(0.1)
            x = floats(3, depth)
            model, feeds = build("MatMulNBits", [Given(x), packed, scales],
                                 {"K": depth, "N": rows, "bits": bits, "block_size": block, "accuracy_level": 4})
            numbers = np.stack([packed >> (bits * e) & (2**bits - 1) for e in range(8 // bits)], -1).reshape(rows, blocks, block)
            weights = (numbers - 2.0 ** (bits - 1)) * scales[:, :, None]
            in_blocks = x.reshape(3, blocks, block)
            steps = np.float32(127) / np.abs(in_blocks).max(-1, keepdims=True)
            expected = [np.einsum("mbk,nbk->mn", one, weights)
                        for one in (np.rint(in_blocks * steps).astype(np.float64) / steps, in_blocks.astype(np.float64))]
            with self.subTest(bits=bits, block=block), tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                onnx.save(model, folder / "net.onnx")
                np.save(folder / "in0.npy", feeds["i0"])
                kind, text = runner.run(folder, "once")
                self.assertEqual(kind, "fine", text)
                got = np.load(folder / "out0.npy")
                error = [np.abs(got - one).max() / np.abs(one).max() for one in expected]
                # A CPU without instructions for products of bytes computes with floats.
                self.assertLess(min(error), 2e-6, error)
                if "avx512_vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
                    self.assertLess(error[0], 2e-6, error)
                    self.assertGreater(error[1], 1e-5, error)
        runner.close()


if __name__ == "__main__":
    unittest.main()
