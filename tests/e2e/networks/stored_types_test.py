"""stored_types_test.py RUN_NETWORKS: weights that a file stores in types of 2, 4 or 8 bits mean what ml_dtypes and ONNX Runtime
say, and stay narrow in the module."""
import sys
import tempfile
import unittest
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper
from runner import Runner

RUN_NETWORKS = sys.argv.pop(1)
RANDOM = np.random.default_rng(7)
TYPES = {
    "INT2": (ml_dtypes.int2, 2), "UINT2": (ml_dtypes.uint2, 2), "INT4": (ml_dtypes.int4, 4), "UINT4": (ml_dtypes.uint4, 4),
    "FLOAT4E2M1": (ml_dtypes.float4_e2m1fn, 4), "FLOAT8E4M3FN": (ml_dtypes.float8_e4m3fn, 8),
    "FLOAT8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, 8), "FLOAT8E5M2": (ml_dtypes.float8_e5m2, 8),
    "FLOAT8E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, 8), "FLOAT8E8M0": (ml_dtypes.float8_e8m0fnu, 8)}


def stored(name, type_name, codes, raw=True):
    """A tensor whose elements have these bits."""
    bits = TYPES[type_name][1]
    flat = codes.reshape(-1)
    flat = np.concatenate([flat, np.zeros(-flat.size % (8 // bits), flat.dtype)]).reshape(-1, 8 // bits)
    packed = sum(flat[:, i].astype(np.uint8) << (i * bits) for i in range(8 // bits)).astype(np.uint8)
    tensor = TensorProto(name=name, data_type=getattr(TensorProto, type_name), dims=codes.shape)
    if raw:
        tensor.raw_data = packed.tobytes()
    else:
        tensor.int32_data.extend(packed.tolist())
    return tensor


def values(type_name, codes):
    dtype, bits = TYPES[type_name]
    if "INT" in type_name:
        signed = codes.astype(np.int32)
        return np.where(signed >= 1 << (bits - 1), signed - (1 << bits), signed) if type_name[0] == "I" else signed
    return codes.astype(np.uint8).view(dtype).astype(np.float32)


def model(nodes, inputs, initializers, opset=23):
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    graph = helper.make_graph(nodes, "net", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)], ir_version=11)


def computed_by_onnx_runtime(network, x):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # else it rounds x to 8 bits
    return ort.InferenceSession(network.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


class StoredTypesTest(unittest.TestCase):
    def setUp(self):
        self.runner = Runner(RUN_NETWORKS)
        self.addCleanup(self.runner.close)

    def compute(self, network, feeds):
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(network, Path(folder) / "net.onnx")
            for number, value in enumerate(feeds):
                np.save(Path(folder) / f"in{number}.npy", value)
            kind, text = self.runner.run(folder, "once")
            self.assertEqual(kind, "fine", text)
            return np.load(Path(folder) / "out0.npy")

    def test_all_codes_of_a_type_have_the_values_of_ml_dtypes(self):
        for type_name, (_, bits) in TYPES.items():
            for raw in (True, False):
                with self.subTest(type_name, raw=raw):
                    codes = np.append(np.arange(1 << bits), 1)  # an odd number of them
                    nodes = [helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT), helper.make_node("Mul", ["c", "x"], ["y"])]
                    one = np.ones(1, np.float32)
                    got = self.compute(model(nodes, {"x": [1]}, [stored("w", type_name, codes, raw)], 25), [one])
                    np.testing.assert_array_equal(got, values(type_name, codes).astype(np.float32))

    def test_weights_with_scales_are_those_of_onnx_runtime(self):
        x = RANDOM.standard_normal((3, 48)).astype(np.float32)
        for type_name in ("INT4", "UINT4", "FLOAT8E4M3FN", "FLOAT8E5M2"):
            bits = TYPES[type_name][1]
            most = 1 << bits if bits == 4 else 0x78  # finite floats
            codes = RANDOM.integers(0, most, (48, 7))
            for shape, attributes in (((), {}), ((7,), {"axis": 1}), ((3, 7), {"axis": 0, "block_size": 16})):
                for has_zero in (False, True):
                    if bits == 8 and (has_zero or shape == (3, 7)):
                        continue
                    with self.subTest(type_name, shape=shape, has_zero=has_zero):
                        scale = np.abs(RANDOM.standard_normal(shape)).astype(np.float32) + np.float32(0.1)
                        weights = [stored("w", type_name, codes), onnx.numpy_helper.from_array(scale, "s")]
                        if has_zero:
                            weights.append(stored("z", type_name, RANDOM.integers(0, most, shape)))
                        nodes = [helper.make_node("DequantizeLinear", [one.name for one in weights], ["d"], **attributes),
                                 helper.make_node("MatMul", ["x", "d"], ["y"])]
                        network = model(nodes, {"x": ["N", 48]}, weights, 21)
                        network.ir_version = 10
                        expected = computed_by_onnx_runtime(network, x)
                        np.testing.assert_allclose(self.compute(network, [x]), expected, rtol=1e-4, atol=1e-3)

    def test_products_with_transposed_weights_are_those_of_onnx_runtime(self):
        x = RANDOM.standard_normal((3, 2, 40)).astype(np.float32)
        for type_name in ("INT4", "UINT4"):
            for shape, attributes in (((), {}), ((130,), {"axis": 0}), ((130, 3), {"axis": 1, "block_size": 16})):
                with self.subTest(type_name, shape=shape):
                    scale = RANDOM.standard_normal(shape).astype(np.float32)
                    weights = [stored("w", type_name, RANDOM.integers(0, 16, (130, 40))), onnx.numpy_helper.from_array(scale, "s"),
                               stored("z", type_name, RANDOM.integers(0, 16, shape))]
                    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], **attributes),
                             helper.make_node("Transpose", ["d"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])]
                    network = model(nodes, {"x": ["N", 2, 40]}, weights, 21)
                    network.ir_version = 10
                    np.testing.assert_allclose(self.compute(network, [x]), computed_by_onnx_runtime(network, x), rtol=1e-4, atol=1e-3)

    def test_packed_tables_are_gathered_as_onnx_runtime_does(self):
        for type_name in ("INT4", "UINT4"):
            for has_zeros in (False, True):
                with self.subTest(type_name, has_zeros=has_zeros):
                    scale = RANDOM.standard_normal((9, 3)).astype(np.float32)
                    weights = [stored("w", type_name, RANDOM.integers(0, 16, (9, 48))),
                               helper.make_tensor("i", TensorProto.INT64, [4], [0, 8, -1, 3]), onnx.numpy_helper.from_array(scale, "s")]
                    if has_zeros:
                        weights.append(stored("z", type_name, RANDOM.integers(0, 16, (9, 3))))
                    nodes = [helper.make_node("GatherBlockQuantized", [one.name for one in weights], ["g"], domain="com.microsoft",
                                              block_size=16, quantize_axis=1),
                             helper.make_node("Mul", ["g", "x"], ["y"])]
                    network = model(nodes, {"x": [1]}, weights, 21)
                    network.ir_version = 10
                    one = np.ones(1, np.float32)
                    expected = computed_by_onnx_runtime(network, one)
                    np.testing.assert_allclose(self.compute(network, [one]), expected, rtol=1e-6)

    def test_other_operators_refuse_such_types(self):
        network = model([helper.make_node("Add", ["w", "w"], ["y"])], {}, [stored("w", "INT4", np.arange(8))])
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(network, Path(folder) / "net.onnx")
            kind, text = self.runner.run(folder, "once")
        self.assertEqual((kind, "of a type that ferry has, got int4" in text), ("refused", True), text)


if __name__ == "__main__":
    unittest.main()
