"""results_test.py FERRY: networks compute what ONNX's own reference implementation computes."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import ml_dtypes
import models
import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

FERRY = sys.argv.pop(1)
# Small images, of a size that strides do not divide everywhere.
NETWORKS = {
    "resnet18": (lambda: models.resnet18(62, 10), (2, 3, 62, 62)),
    "resnet50_stage": (lambda: models.resnet50_stage(9), (2, 64, 9, 9)),
    "mobilenet_v2": (lambda: models.mobilenet_v2(62, 10), (1, 3, 62, 62)),
    "mobilenet_v3_small": (lambda: models.mobilenet_v3_small(62, 10), (1, 3, 62, 62)),
    "squeezenet": (lambda: models.squeezenet(62, 10), (1, 3, 62, 62)),
    "encoder": (lambda: models.encoder(), (2, 7, 96)),
}


def reference(model, x):
    """What ONNX computes. Its batch normalisation of opset 9 always trains, so networks with one are taken for opset 15's."""
    same = onnx.ModelProto()
    same.CopyFrom(model)
    if any(node.op_type == "BatchNormalization" for node in same.graph.node):
        same.opset_import[0].version = max(same.opset_import[0].version, 15)
    return ReferenceEvaluator(same).run(None, {"x": x})[0]


def narrow(model, dtype):
    """The same network with weights of a narrower type, which computes in it between two casts. Returns it, and the network
    in float32 with the same rounded weights."""
    narrow, rounded = onnx.ModelProto(), onnx.ModelProto()
    narrow.CopyFrom(model)
    rounded.CopyFrom(model)
    for few, many in zip(narrow.graph.initializer, rounded.graph.initializer):
        if few.data_type == onnx.TensorProto.FLOAT:
            values = numpy_helper.to_array(few).astype(dtype)
            few.CopyFrom(numpy_helper.from_array(values, few.name))
            many.CopyFrom(numpy_helper.from_array(values.astype(np.float32), many.name))
    to = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    result = narrow.graph.output[0].name
    for node in narrow.graph.node:
        node.input[:] = ["x narrow" if name == "x" else name for name in node.input]
        node.output[:] = ["y narrow" if name == result else name for name in node.output]
    narrow.graph.node.insert(0, onnx.helper.make_node("Cast", ["x"], ["x narrow"], to=to))
    narrow.graph.node.append(onnx.helper.make_node("Cast", ["y narrow"], [result], to=onnx.TensorProto.FLOAT))
    return narrow, rounded


def nodes_of(steps):
    """The names of the model's nodes, without paths, that steps such as "/Conv_1+Relu_2" compute. Other steps convert
    between layouts, as "conv_1 to NCHW16c" does."""
    return [node for step in steps if " to NCHW" not in step for node in step.lstrip("/").split("+")]


def computing_nodes(model):
    """The names of the model's nodes, without paths, but for those that leave everything where it is."""
    return [node.name.lstrip("/") for node in model.graph.node if node.op_type not in ("Flatten", "Dropout", "Reshape")]


def setUpModule():
    """Networks that several tests need are compiled once."""
    cache = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(cache.cleanup)
    os.environ.pop("FERRY_CACHE_DISABLE", None)
    os.environ["XDG_CACHE_HOME"] = cache.name


class ResultsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return str(Path(self.folder.name) / name)

    def ferry(self, *words):
        done = subprocess.run([FERRY, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def build(self, name):
        """Saves the network and a random input; returns the model and the input."""
        make, shape = NETWORKS[name]
        model = make()
        onnx.save(model, self.path("net.onnx"))
        x = np.random.default_rng(1).standard_normal(shape, np.float32)
        np.save(self.path("x.npy"), x)
        time.sleep(0.1)  # files that have just been written are not kept
        return model, x

    def test_outputs_are_those_of_onnx(self):
        for name in NETWORKS:
            with self.subTest(name):
                model, x = self.build(name)
                output = model.graph.output[0].name
                self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--out",
                           f"{output}=@{self.path('y.npy')}")
                expected = reference(model, x)
                found = np.load(self.path("y.npy"))
                self.assertEqual(found.shape, expected.shape)
                self.assertLess(np.abs(found - expected).max(), 1e-4 * np.abs(expected).max())

    def test_one_module_serves_images_of_all_sizes(self):
        # SqueezeNet's pools need some pixels. The module is compiled for the first size.
        for name, shapes in (("resnet18", [(1, 62, 62), (2, 1, 1), (1, 33, 97), (3, 7, 7), (0, 9, 9)]),
                             ("mobilenet_v2", [(1, 62, 62), (2, 1, 7), (1, 97, 33)]),
                             ("mobilenet_v3_small", [(1, 224, 97), (2, 7, 1), (1, 64, 64)]),
                             ("squeezenet", [(1, 62, 62), (2, 33, 97), (1, 224, 50)])):
            with self.subTest(name):
                model, _ = self.build(name)
                for dimension, size in zip(model.graph.input[0].type.tensor_type.shape.dim, ("N", 3, "H", "W")):
                    if size != 3:
                        dimension.dim_param = size
                onnx.save(model, self.path("net.onnx"))
                output = model.graph.output[0].name
                expected_sizes = ",".join(f"{symbol}={size}" for symbol, size in zip("NHW", shapes[0]))
                self.ferry("compile", self.path("net.onnx"), "--size", expected_sizes, "-o", self.path("net.ferry"))
                session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
                for batch, height, width in shapes:
                    x = np.random.default_rng(3).standard_normal((batch, 3, height, width), np.float32)
                    np.save(self.path("x.npy"), x)
                    self.ferry("run", self.path("net.ferry"), "--arg", f"x=@{self.path('x.npy')}", "--out",
                               f"{output}=@{self.path('y.npy')}")
                    found = np.load(self.path("y.npy"))
                    if batch == 0:
                        self.assertEqual(found.shape, (0, 10))
                        continue
                    expected = session.run(None, {"x": x})[0]
                    self.assertEqual(found.shape, expected.shape)
                    self.assertLess(np.abs(found - expected).max(), 1e-4 * np.abs(expected).max(),
                                    f"{name}, {batch}x3x{height}x{width}")

    def test_a_batch_may_be_empty(self):
        for name in ("resnet18", "encoder"):
            model, x = self.build(name)
            np.save(self.path("x.npy"), x[:0])
            output = model.graph.output[0].name
            self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--out",
                       f"{output}=@{self.path('y.npy')}")
            expected = reference(model, x)
            self.assertEqual(np.load(self.path("y.npy")).shape, (0, *expected.shape[1:]))

    def test_a_cache_of_keys_and_values_may_be_empty(self):
        nodes = [onnx.helper.make_node("Concat", ["past", "x"], ["keys"], axis=2),
                 onnx.helper.make_node("Transpose", ["keys"], ["columns"], perm=[0, 1, 3, 2]),
                 onnx.helper.make_node("MatMul", ["x", "columns"], ["scores"]),
                 onnx.helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
                 onnx.helper.make_node("MatMul", ["weights", "keys"], ["y"])]
        infos = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", 2, size, 8])
                 for name, size in (("past", "P"), ("x", "S"), ("keys", "P + S"), ("y", "S"))]
        model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "cache", infos[:2], infos[2:]),
                                       opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, self.path("net.onnx"))
        random = np.random.default_rng(2)
        self.ferry("compile", self.path("net.onnx"), "-o", self.path("net.ferry"))
        for past in (0, 5, 1):
            feeds = {"past": random.standard_normal((1, 2, past, 8), np.float32),
                     "x": random.standard_normal((1, 2, 3, 8), np.float32)}
            words = []
            for name, array in feeds.items():
                np.save(self.path(name + ".npy"), array)
                words += ["--arg", f"{name}=@{self.path(name + '.npy')}"]
            self.ferry("run", self.path("net.ferry"), *words, "--out", f"keys=@{self.path('keys.npy')}", "--out",
                       f"y=@{self.path('y.npy')}")
            for name, expected in zip(("keys", "y"), ReferenceEvaluator(model).run(None, feeds)):
                np.testing.assert_allclose(np.load(self.path(name + ".npy")), expected, rtol=1e-5, atol=1e-6)

    def test_an_output_is_as_long_as_data_say(self):
        nodes = [onnx.helper.make_node("NonZero", ["x"], ["places"])]
        infos = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 3]),
                 onnx.helper.make_tensor_value_info("places", onnx.TensorProto.INT64, [2, None])]
        model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "found", infos[:1], infos[1:]),
                                       opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, self.path("net.onnx"))
        self.ferry("compile", self.path("net.onnx"), "-o", self.path("net.ferry"))
        for x in (np.float32([[0, 2, 0], [3, 0, 4]]), np.zeros((5, 3), np.float32)):
            np.save(self.path("x.npy"), x)
            for file in ("net.onnx", "net.ferry"):
                ran = json.loads(self.ferry("run", self.path(file), "--json", "--arg", f"x=@{self.path('x.npy')}",
                                            "--out", f"places=@{self.path('places.npy')}"))
                expected = np.array(np.nonzero(x))
                self.assertEqual([(one["name"], one["shape"]) for one in ran["outputs"]], [("places", list(expected.shape))])
                np.testing.assert_array_equal(np.load(self.path("places.npy")), expected)

    def test_sizes_may_be_outputs_and_computed_with(self):
        def constant(name, values):
            return numpy_helper.from_array(np.array(values, np.int64), name)

        nodes = [onnx.helper.make_node("Shape", ["x"], ["shape"]),
                 onnx.helper.make_node("Gather", ["shape", "first"], ["n"], axis=0),
                 onnx.helper.make_node("Sub", ["n", "five"], ["less"]),
                 onnx.helper.make_node("Abs", ["less"], ["distance"]),
                 onnx.helper.make_node("Mod", ["n", "three"], ["rest"]),
                 onnx.helper.make_node("Cast", ["shape"], ["floats"], to=onnx.TensorProto.FLOAT),
                 onnx.helper.make_node("ReduceSum", ["floats"], ["sum"]),
                 onnx.helper.make_node("Div", ["x", "sum"], ["y"]),
                 onnx.helper.make_node("Expand", ["less", "count"], ["many"])]
        outputs = [("shape", 3, [3]), ("less", 1, [1]), ("distance", 1, [1]), ("rest", 1, [1]), ("many", 1, [40])]
        infos = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, shape) for name, _, shape in outputs]
        shape = ["N", "M", 7]
        x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
        infos.append(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape))
        constants = [constant("first", [0]), constant("five", [5]), constant("three", [3]), constant("count", [40])]
        model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "sizes", [x], infos, constants),
                                       opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, self.path("net.onnx"))
        peer = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        self.ferry("compile", self.path("net.onnx"), "-o", self.path("net.ferry"))
        for sizes in ((3, 2), (11, 1), (5, 4)):
            values = np.random.default_rng(3).standard_normal((*sizes, 7), np.float32)
            np.save(self.path("x.npy"), values)
            words = ["--arg", f"x=@{self.path('x.npy')}"]
            report = json.loads(self.ferry("run", self.path("net.onnx"), *words, "--check", "--json"))
            self.assertEqual(sum(check["wrong"] for check in report["check"]), 0)
            for info in infos:
                words += ["--out", f"{info.name}=@{self.path(info.name + '.npy')}"]
            self.ferry("run", self.path("net.ferry"), *words)
            for info, expected in zip(infos, peer.run(None, {"x": values})):
                found = np.load(self.path(info.name + ".npy"))
                self.assertEqual(found.dtype, expected.dtype)
                np.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_networks_may_compute_in_narrow_floats(self):
        for name, dtype, epsilon in (("resnet50_stage", ml_dtypes.bfloat16, 2**-8), ("mobilenet_v3_small", np.float16, 2**-11)):
            with self.subTest(network=name, dtype=dtype.__name__):
                model, x = self.build(name)
                narrowed, rounded = narrow(model, dtype)
                onnx.save(narrowed, self.path("net.onnx"))
                output = model.graph.output[0].name
                self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--out",
                           f"{output}=@{self.path('y.npy')}")
                expected = reference(rounded, x.astype(dtype).astype(np.float32))
                error = np.abs(np.load(self.path("y.npy")) - expected).max() / np.abs(expected).max()
                # Between the two casts only constants of operators, such as HardSwish's 1/6, have the narrow type.
                self.assertLess(error, epsilon)

    def test_steps_are_named_after_nodes(self):
        model, _ = self.build("squeezenet")
        report = json.loads(self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--json"))
        steps = [step["node"] for step in report["steps"]]
        self.assertEqual(steps[0], model.graph.node[0].name + "+" + model.graph.node[1].name.lstrip("/"))
        self.assertCountEqual(nodes_of(steps), computing_nodes(model))

    def test_check_compares_each_node(self):
        model, _ = self.build("resnet50_stage")
        report = json.loads(self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--check",
                                       "--json"))
        outputs = [check["output"] for check in report["check"]]
        self.assertEqual(outputs.pop(), model.graph.output[0].name + " of the whole network")
        self.assertCountEqual(nodes_of(outputs), computing_nodes(model))
        self.assertEqual(sum(check["wrong"] for check in report["check"]), 0)

    def test_winograd_may_be_switched_off(self):
        model, x = self.build("resnet50_stage")
        emit = ["compile", self.path("net.onnx"), "--target", "x86-64-v3 -l2-bytes=2097152", "--emit",
                "groups"]
        self.assertIn("conv_winograd", self.ferry(*emit[:-1], "plan"))
        self.assertIn(" winograd=", self.ferry(*emit))
        self.assertNotIn("winograd", self.ferry(*emit, "--winograd", "off"))
        output = model.graph.output[0].name
        results = []
        for words in ([], ["--winograd", "off"]):
            self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--out",
                       f"{output}=@{self.path('y.npy')}", *words)
            results.append(np.load(self.path("y.npy")))
        self.assertLess(np.abs(results[0] - results[1]).max(), 1e-4 * np.abs(results[1]).max())

    def test_the_errors_of_winograds_algorithm_can_be_limited(self):
        self.build("resnet50_stage")
        emit = ["compile", self.path("net.onnx"), "--target", "x86-64-v3 -l2-bytes=2097152", "--emit", "groups"]
        chosen = self.ferry(*emit)
        self.assertIn(" winograd=", chosen)
        self.assertEqual(self.ferry(*emit, "--max-error", "2.7,3"), chosen)
        self.assertNotIn(" winograd=4", self.ferry(*emit, "--max-error", "2"))
        self.assertNotIn(" winograd=", self.ferry(*emit, "--max-error", "0"))
        for wrong in ("", "x", "-1", "1,", "1,2,3", "nan"):
            done = subprocess.run([FERRY, *emit, "--max-error", wrong], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("expected RMS", done.stderr)

    def test_each_stage_of_compilation_can_be_shown(self):
        self.build("squeezenet")
        shown = {stage: self.ferry("compile", self.path("net.onnx"), "--emit", stage)
                 for stage in ("graph", "groups", "schedule", "plan")}
        self.assertIn(" = conv(%0, ", shown["graph"])
        self.assertIn("\n  /Conv_0+Relu_1\n  ├─ %", shown["groups"])
        self.assertIn("def conv_relu_0\n", shown["schedule"])
        self.assertIn("/Conv_0+Relu_1\n  call ", shown["plan"])
        # Of the stages of kernels that of each is shown, once, beneath the nodes that it computes.
        for stage, begin, text in (("lower", "//", "conv_relu_0(in f32 "), ("c", "//", "conv_relu_0("),
                                   ("opencl", "//", "__kernel"), ("llvm", ";", "define "), ("asm", "/*", "conv_relu_0:")):
            kernels = self.ferry("compile", self.path("net.onnx"), "--emit", stage)
            self.assertIn(f"{begin} /Conv_0+Relu_1", kernels, stage)
            self.assertIn(text, kernels, stage)
        for target in (["--target", "c", "-o", self.path("net.c")], ["--emit", "space"], ["--emit", "obj"]):
            done = subprocess.run([FERRY, "compile", self.path("net.onnx"), *target], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, target)
            self.assertIn("expected ", done.stderr)
            self.assertIn("network", done.stderr)

    def test_a_compiled_network_contains_its_weights(self):
        self.build("squeezenet")
        run = ["--arg", f"x=@{self.path('x.npy')}", "--out"]
        output = "y.npy"
        name = json.loads(self.ferry("inspect", self.path("net.onnx"), "--json"))["outputs"][0]["name"]
        self.ferry("compile", self.path("net.onnx"), "-o", self.path("net.ferry"))
        self.ferry("run", self.path("net.onnx"), *run, f"{name}=@{self.path(output)}")
        Path(self.path("net.onnx")).unlink()
        self.ferry("run", self.path("net.ferry"), *run, f"{name}=@{self.path('again.npy')}")
        np.testing.assert_array_equal(np.load(self.path(output)), np.load(self.path("again.npy")))


if __name__ == "__main__":
    unittest.main()
