"""texts_test.py FERRY: networks whose inputs are texts get them from files with a line each, and compute what ONNX Runtime does."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

FERRY = sys.argv.pop(1)
RANDOM = np.random.default_rng(3)
COLOURS, SIZES = ["red", "green", "blue"], ["S", "M", "L", "XL"]
CLASSES = ["buy", "keep", "sell"]


def ml(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=f"{op} {outputs[0]}", domain="ai.onnx.ml", **attributes)


def model_of(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, "net", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=9)


def column(name, dtype=TensorProto.STRING):
    return helper.make_tensor_value_info(name, dtype, ["N", 1])


def pipeline(joined):
    """Two columns of texts, by themselves or put together, and one of numbers, which give a class."""
    places = [helper.make_tensor(f"at{i}", TensorProto.INT64, [1], [i]) for i in range(2)]
    parts = [helper.make_node("Concat", ["colour", "size"], ["all"], name="Concat", axis=1),
             ml("ArrayFeatureExtractor", ["all", "at0"], ["c"]), ml("ArrayFeatureExtractor", ["all", "at1"], ["s"])]
    colour, size = ("c", "s") if joined else ("colour", "size")
    nodes = [*(parts if joined else []),
             ml("OneHotEncoder", [colour], ["one hot"], cats_strings=COLOURS, zeros=1),
             helper.make_node("Reshape", ["one hot", "rows"], ["colours"], name="Reshape"),
             ml("LabelEncoder", [size], ["sizes"], keys_strings=SIZES, values_floats=[0.5, 1.5, 2.5, 4.0], default_float=-1.0),
             helper.make_node("Concat", ["colours", "sizes", "weight"], ["features"], name="features", axis=1),
             ml("LinearClassifier", ["features"], ["label", "scores"], classlabels_strings=CLASSES, post_transform="SOFTMAX",
                coefficients=RANDOM.standard_normal(15).tolist(), intercepts=[0.1, -0.2, 0.3])]
    rows = helper.make_tensor("rows", TensorProto.INT64, [2], [-1, len(COLOURS)])
    return model_of(nodes, [column("colour"), column("size"), column("weight", TensorProto.FLOAT)], ["label", "scores"],
                    [rows, *(places if joined else [])])


class TextsTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)

    def ferry(self, *words, code=0):
        done = subprocess.run([FERRY, *map(str, words)], capture_output=True, text=True,
                              env={**os.environ, "FERRY_PYTHON": sys.executable})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def save(self, model):
        onnx.save(model, self.folder / "net.onnx")
        return self.folder / "net.onnx"

    def write(self, name, texts):
        (self.folder / name).write_text("".join(text + "\n" for text in texts))
        return f"@{self.folder / name}"

    def test_texts_give_what_they_give_in_onnx_runtime_with_an_open_number_of_rows(self):
        for joined in (False, True):
            net = self.save(pipeline(joined))
            peer = ort.InferenceSession(str(net), providers=["CPUExecutionProvider"])
            for count in (1, 2, 17):
                with self.subTest(joined=joined, count=count):
                    # Some are texts of the other column, some nobody knows, and some are empty.
                    colour = [str(RANDOM.choice(COLOURS + ["pink", "XL", ""])) for _ in range(count - 1)] + ["blue"]
                    size = [str(RANDOM.choice(SIZES + ["red", "XXL"])) for _ in range(count)]
                    weight = RANDOM.standard_normal((count, 1)).astype(np.float32)
                    np.save(self.folder / "weight.npy", weight)
                    said = self.ferry("run", net, "--arg", "colour=" + self.write("colour.txt", colour),
                                      "--arg", "size=" + self.write("size.txt", size), "--arg", f"weight=@{self.folder}/weight.npy",
                                      "--out", f"label=@{self.folder}/label.npy", "--out", f"scores=@{self.folder}/scores.npy")
                    self.assertIn(f"{count} texts", said)
                    column_of = lambda texts: np.array(texts, object).reshape(-1, 1)
                    label, scores = peer.run(None, {"colour": column_of(colour), "size": column_of(size), "weight": weight})
                    np.testing.assert_allclose(np.load(self.folder / "scores.npy"), scores, rtol=1e-5, atol=1e-6)
                    self.assertEqual([CLASSES[i] for i in np.load(self.folder / "label.npy").ravel()], list(label))

    def test_the_same_texts_go_to_a_peer(self):
        net = self.save(pipeline(True))
        said = self.ferry("run", net, "--arg", "colour=" + self.write("colour.txt", ["red", "pink", "blue"]), "--size", "N=3",
                          "--against", "onnxruntime")
        self.assertIn("scores", said)

    def test_indices_are_told_and_may_be_given_themselves(self):
        net = self.save(pipeline(False))
        np.save(self.folder / "colour.npy", np.array([[0], [3]]))
        said = self.ferry("run", net, "--arg", f"colour=@{self.folder}/colour.npy")
        self.assertIn("the input 'colour' has indices in place of texts: 0 red, 1 green, 2 blue, 3 any other text", said)

    def test_a_number_of_texts_that_does_not_fit_is_refused(self):
        fixed = helper.make_tensor_value_info("t", TensorProto.STRING, [2, 2])
        net = self.save(model_of([ml("LabelEncoder", ["t"], ["y"], keys_strings=SIZES, values_int64s=[1, 2, 3, 4])], [fixed], ["y"]))
        said = self.ferry("run", net, "--arg", "t=" + self.write("t.txt", ["S", "M", "L"]), code=2)
        self.assertIn("t: expected 4 texts, got 3", said)
        self.assertIn("[[ 1  2]\n [-1  4]]", self.ferry("run", net, "--arg", "t=" + self.write("t.txt", ["S", "M", "?", "XL"])))

    def test_operators_that_look_into_texts_are_refused(self):
        normalizer = helper.make_node("StringNormalizer", ["t"], ["y"], name="lower", case_change_action="LOWER")
        net = self.save(model_of([normalizer], [helper.make_tensor_value_info("t", TensorProto.STRING, [3])], ["y"]))
        self.assertIn("StringNormalizer", self.ferry("run", net, code=2))

    def test_texts_of_different_lists_are_not_put_together(self):
        nodes = [ml("LabelEncoder", ["x"], ["a"], keys_int64s=[1, 2], values_strings=["red", "S"]),
                 helper.make_node("Concat", ["a", "t"], ["both"], name="both", axis=1),
                 ml("LabelEncoder", ["both"], ["y"], keys_strings=SIZES, values_int64s=[1, 2, 3, 4])]
        net = self.save(model_of(nodes, [column("x", TensorProto.INT64), column("t")], ["y"]))
        self.assertIn("expected texts of one list", self.ferry("run", net, code=2))


if __name__ == "__main__":
    unittest.main()
