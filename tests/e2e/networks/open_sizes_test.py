"""open_sizes_test.py RUN_NETWORKS: networks with open sizes compute in each call what ONNX Runtime does, as one module
for all sizes, and refuse a call that they are not defined for."""
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import branches  # noqa: F401, adds its networks
import data_sizes  # noqa: F401, adds its networks
import open_windows  # noqa: F401, adds its networks
from open_sizes import CASES, Net
from runner import Runner

RUN_NETWORKS = sys.argv.pop(1)


def inputs_of(model, shapes, random):
    """Inputs that are given, or random ones: integers are indices below 10."""
    values = {}
    for info, shape in zip(model.graph.input, shapes):
        if isinstance(shape, np.ndarray):
            values[info.name] = shape
            continue
        is_float = info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
        values[info.name] = (random.standard_normal(shape).astype(np.float32) if is_float else
                             random.integers(0, 10, shape, dtype=np.int64))
    return values


class OpenSizesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = Runner(RUN_NETWORKS)

    @classmethod
    def tearDownClass(cls):
        cls.runner.close()

    def check(self, name, folder):
        random = np.random.default_rng(1)
        model = CASES[name].model(Net())
        onnx.save(model, folder / "net.onnx")
        session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        calls, at = [], folder
        for shapes in CASES[name].calls:
            at.mkdir(exist_ok=True)
            feeds = inputs_of(model, shapes, random)
            for number, value in enumerate(feeds.values()):
                np.save(at / f"in{number}.npy", value)
            calls.append((at, session.run(None, feeds)))
            at = at / "again"
        kind, text = self.runner.run(folder, "once", "again")
        self.assertEqual(kind, "fine", text)
        for at, expected in calls:
            for number, value in enumerate(expected):
                got = np.load(at / f"out{number}.npy")
                self.assertEqual((got.shape, got.dtype), (value.shape, value.dtype))
                np.testing.assert_allclose(got, value, rtol=1e-4, atol=1e-5)

    def test_one_module_computes_what_onnx_runtime_does_at_all_sizes(self):
        for name in CASES:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.check(name, Path(folder))

    def test_the_last_state_of_a_sequence_without_a_step_is_the_first(self):
        # ONNX Runtime leaves these outputs as they were.
        with tempfile.TemporaryDirectory() as folder:
            model = CASES["recurrent"].model(Net())
            onnx.save(model, Path(folder) / "net.onnx")
            feeds = inputs_of(model, [(0, 3, 4), (2, 3, 5), (2, 3, 5)], np.random.default_rng(1))
            for number, value in enumerate(feeds.values()):
                np.save(Path(folder) / f"in{number}.npy", value)
            kind, text = self.runner.run(folder, "once")
            self.assertEqual(kind, "fine", text)
            for number, name in enumerate(("h", "c")):
                np.testing.assert_array_equal(np.load(Path(folder) / f"out{number}.npy"), feeds[name])

    def refusal(self, name, *shapes):
        """What a call with inputs of these shapes is answered."""
        with tempfile.TemporaryDirectory() as folder:
            model = CASES[name].model(Net())
            onnx.save(model, Path(folder) / "net.onnx")
            for number, value in enumerate(inputs_of(model, shapes, np.random.default_rng(1)).values()):
                np.save(Path(folder) / f"in{number}.npy", value)
            kind, text = self.runner.run(folder, "once")
        self.assertEqual(kind, "failed")
        return text

    def test_means_of_large_images_keep_their_digits(self):
        random, (height, width) = np.random.default_rng(1), (240, 320)
        weights = {name: random.random(shape, np.float32) for name, shape in
                   (("w", (32, 16, 3, 3)), ("s", (32, 32, 1, 1)), ("v", (32, 32, 3, 3)))}
        # Channels lie in blocks between these convolutions.
        nodes = [onnx.helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4), onnx.helper.make_node("GlobalAveragePool", ["c"], ["mean"]),
                 onnx.helper.make_node("Conv", ["mean", "s"], ["gate"]), onnx.helper.make_node("Mul", ["c", "gate"], ["m"]),
                 onnx.helper.make_node("Conv", ["m", "v"], ["y"], pads=[1] * 4)]
        given = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 16, "H", "W"])
        results = [onnx.helper.make_empty_tensor_value_info(name) for name in ("mean", "y")]
        graph = onnx.helper.make_graph(nodes, "net", [given], results, [onnx.numpy_helper.from_array(w, n) for n, w in weights.items()])
        x = random.random((1, 16, height, width), np.float32)
        padded = np.pad(x[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
        sums = np.array([[padded[:, i:i + height, j:j + width].sum((1, 2)) for j in range(3)] for i in range(3)])
        expected = np.einsum("ocij,ijc->o", weights["w"].astype(np.float64), sums) / (height * width)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), folder / "net.onnx")
            np.save(folder / "in0.npy", x)
            kind, text = self.runner.run(folder, "once")
            self.assertEqual(kind, "fine", text)
            # One sum over all elements in order is off by 1e-5.
            np.testing.assert_allclose(np.load(folder / "out0.npy").ravel(), expected, rtol=2e-6)

    def test_a_call_is_refused_in_the_words_of_the_model_for_sizes_that_do_not_fit(self):
        self.assertIn("T of 'x' must equal min(T,40) of 'Slice_2'", self.refusal("learned_positions", (1, 41, 4)))
        self.assertIn("must equal", self.refusal("up_and_down", (1, 2, 10, 12)))
        self.assertIn("N of 'a' must equal M of 'b'", self.refusal("named_apart", (2, 3), (3, 3)))
        self.assertIn("must equal", self.refusal("chunked", (3, 4)))
        self.assertIn("must equal a multiple of 2", self.refusal("blocks_of_pixels", (1, 3, 5, 6)))
        self.assertIn("must equal", self.refusal("squeezed_if_one", (1, 3, 9)))
        self.assertIn("is outside of the 1 entries", self.refusal("squeezed_in_branches", np.full((1, 3, 5), -1, np.float32)))


if __name__ == "__main__":
    unittest.main()
