"""shapes_test.py FERRY: the types of all tensors in a network are those that ONNX's own inference finds."""
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import models
import onnx
from onnx import helper, shape_inference

FERRY = sys.argv.pop(1)
DTYPES = {"f32": onnx.TensorProto.FLOAT, "i64": onnx.TensorProto.INT64, "bool": onnx.TensorProto.BOOL}
SIZES = {"batch": 3, "length": 5}


def inspect(path, *words):
    done = subprocess.run([FERRY, "inspect", path, "--json", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def evaluate(expression):
    return eval(expression.replace("/", "//"), {"min": min, "max": max, **SIZES})


class ShapesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = str(Path(self.folder.name) / "net.onnx")

    def tearDown(self):
        self.folder.cleanup()

    def inferred(self, model):
        """The types of all computed tensors by name, for these sizes."""
        fixed = onnx.ModelProto()
        fixed.CopyFrom(model)
        for dim in fixed.graph.input[0].type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = SIZES[dim.dim_param]
        fixed = shape_inference.infer_shapes(fixed, check_type=True, strict_mode=True, data_prop=True)
        types = {}
        for value in [*fixed.graph.value_info, *fixed.graph.output]:
            tensor = value.type.tensor_type
            types[value.name] = tensor.elem_type, [dim.dim_value for dim in tensor.shape.dim]
        return types

    def printed(self, model, *words):
        """The types that ferry finds of all tensors that are not computed away, whose expressions are evaluated."""
        summary = inspect(self.file, *words)
        self.assertEqual(summary["unsupported"], [])
        return {one["name"]: (DTYPES[one["dtype"]], [evaluate(size) for size in one["shape"]])
                for one in summary["outputs"]}

    def with_all_outputs(self, model, types):
        """Returns the model with all tensors as outputs, except for those of integers, which are shapes."""
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        del shown.graph.output[:]
        for name, (dtype, shape) in types.items():
            if dtype == onnx.TensorProto.FLOAT:
                shown.graph.output.append(helper.make_empty_tensor_value_info(name))
        return shown

    def test_all_shapes_are_those_that_onnx_infers(self):
        for build in models.NETWORKS:
            with self.subTest(build.__name__):
                model = build()
                types = self.inferred(model)
                shown = self.with_all_outputs(model, types)
                self.assertGreaterEqual(len(shown.graph.output), len(model.graph.node) // 2)
                onnx.save(shown, self.file)
                expected = {one.name: types[one.name] for one in shown.graph.output}
                self.assertEqual(self.printed(shown), expected)
                sizes = ",".join(f"{name}={size}" for name, size in SIZES.items()
                                 if any(dim.dim_param == name for dim in model.graph.input[0].type.tensor_type.shape.dim))
                self.assertEqual(self.printed(shown, "--size", sizes), expected)

    def test_resnet18_has_the_operators_parameters_and_work_that_are_published(self):
        onnx.save(models.resnet18(), self.file)
        summary = inspect(self.file, "--size", "batch=1")
        self.assertEqual(summary["multiply_adds"], "1814073344")
        # The published number counts scale and shift of the normalised channels, and no statistics.
        self.assertEqual(summary["parameters"], 11689512 + 2 * 4800 + 4800)
        nodes = {one["operator"]: one["nodes"] for one in summary["operators"]}
        self.assertEqual(nodes, {"Add": 8, "BatchNormalization": 20, "Conv": 20, "Flatten": 1, "Gemm": 1,
                                 "GlobalAveragePool": 1, "MaxPool": 1, "Relu": 17})

    def test_weights_may_lie_beside_the_model(self):
        onnx.save(models.squeezenet(64), self.file, save_as_external_data=True, location="net.bin", size_threshold=256)
        summary = inspect(self.file)
        self.assertEqual(summary["parameters"], 1235496)
        self.assertEqual(summary["outputs"][0]["shape"], ["batch", "1000"])


if __name__ == "__main__":
    unittest.main()
