"""ml_test.py RUN_NETWORKS: operators of ai.onnx.ml compute what ONNX Runtime does, with an open number of rows, and so do whole
pipelines of them. Texts come back as indices."""
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
RANDOM = np.random.default_rng(5)
TYPES = {"f": TensorProto.FLOAT, "d": TensorProto.DOUBLE, "l": TensorProto.INT64, "i": TensorProto.INT32}
ML = helper.make_opsetid("ai.onnx.ml", 3)
NAMES = ["ada", "bob", "cy", "dan"]


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def numbers(*shape):
    return floats(*shape).ravel().tolist()


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=f"{op} {outputs[0]}", domain="ai.onnx.ml", **attributes)


class Trees:
    """Random trees as attributes: nodes_*, and what the leaves weigh for some of the targets."""

    def __init__(self, features, trees, depth, modes):
        self.features, self.modes = features, modes
        self.nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
                                            "missing_value_tracks_true")}
        self.leaves = []
        for tree in range(trees):
            self.count = 0
            self.add(tree, depth)

    def add(self, tree, depth):
        own = self.count
        self.count += 1
        is_leaf = depth == 0 or (own > 0 and RANDOM.random() < 0.2)
        place = len(self.nodes["nodeids"])
        mode = "LEAF" if is_leaf else str(RANDOM.choice(self.modes))
        # Equal numbers are likely, so that the comparisons differ.
        for name, value in (("treeids", tree), ("nodeids", own), ("featureids", int(RANDOM.integers(self.features))), ("modes", mode),
                            ("values", float(RANDOM.integers(-2, 3))), ("truenodeids", 0), ("falsenodeids", 0),
                            ("missing_value_tracks_true", int(not is_leaf and RANDOM.random() < 0.3))):
            self.nodes[name].append(value)
        if is_leaf:
            self.leaves.append((tree, own))
        else:
            self.nodes["truenodeids"][place] = self.add(tree, depth - 1)
            self.nodes["falsenodeids"][place] = self.add(tree, depth - 1)
        return own

    def attributes(self, kind, targets, positive=False):
        all_of = {f"nodes_{name}": values for name, values in self.nodes.items()}
        chosen = [(leaf, target) for leaf in self.leaves for target in targets if len(targets) == 1 or RANDOM.random() < 0.8]
        weights = numbers(len(chosen))
        return {**all_of, f"{kind}_treeids": [leaf[0] for leaf, _ in chosen], f"{kind}_nodeids": [leaf[1] for leaf, _ in chosen],
                f"{kind}_ids": [target for _, target in chosen],
                f"{kind}_weights": [abs(w) / 4 for w in weights] if positive else weights}


def whole_numbers(*shape):
    x = RANDOM.integers(-3, 4, shape).astype(np.float32)
    x[RANDOM.random(shape) < 0.1] = np.nan
    return x


def classifier(op, transform, labels, **attributes):
    return [node(op, ["x"], ["label", "score"], post_transform=transform, **labels, **attributes)]


def tree_cases():
    plain, every = ["BRANCH_LEQ"], ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    for depth, modes in ((3, plain), (6, every), (13, plain)):
        for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
            yield (f"TreeEnsembleRegressor {aggregate} {depth}", whole_numbers(9, 5),
                   [node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=2, aggregate_function=aggregate, base_values=[0.5, -0.25],
                         **Trees(5, 6, depth, modes).attributes("target", [0, 1]))])
    for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        yield (f"TreeEnsembleClassifier {transform}", whole_numbers(9, 5),
               classifier("TreeEnsembleClassifier", transform, {"classlabels_int64s": [7, 3, 5]},
                          **Trees(5, 6, 4, plain).attributes("class", [0, 1, 2])))
        for positive in (False, True):
            yield (f"TreeEnsembleClassifier of two classes {transform} {positive}", whole_numbers(9, 5),
                   classifier("TreeEnsembleClassifier", transform, {"classlabels_strings": NAMES[:2]},
                              **Trees(5, 6, 4, plain).attributes("class", [0], positive)))
    yield ("TreeEnsembleRegressor of doubles", whole_numbers(9, 5).astype(np.float64),
           [node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **Trees(5, 6, 4, every).attributes("target", [0]))])


def svm_cases():
    for kernel, degree in (("LINEAR", 0.0), ("POLY", 3.0), ("RBF", 0.0), ("SIGMOID", 0.0)):
        shared = {"kernel_type": kernel, "kernel_params": [0.3, 0.2, degree]}
        yield (f"SVMRegressor {kernel}", floats(9, 4),
               [node("SVMRegressor", ["x"], ["y"], n_supports=7, support_vectors=numbers(7, 4), coefficients=numbers(7), rho=[0.25],
                     **shared)])
        for classes in (2, 4):
            pairs = classes * (classes - 1) // 2
            vectors = [3, 2, 4, 2][:classes]
            own = dict(vectors_per_class=vectors, support_vectors=numbers(sum(vectors), 4),
                       coefficients=numbers(sum(vectors), classes - 1), rho=numbers(pairs), **shared)
            yield (f"SVMClassifier {kernel} {classes}", floats(9, 4),
                   classifier("SVMClassifier", "NONE", {"classlabels_ints": list(range(classes))}, **own))
            yield (f"SVMClassifier with probabilities {kernel} {classes}", floats(9, 4),
                   classifier("SVMClassifier", "NONE", {"classlabels_strings": NAMES[:classes]}, prob_a=[-1.5] * pairs,
                              prob_b=numbers(pairs), **own))
    yield ("SVMRegressor of one class", floats(9, 4),
           [node("SVMRegressor", ["x"], ["y"], n_supports=5, support_vectors=numbers(5, 4), coefficients=numbers(5), rho=[0.1],
                 kernel_type="RBF", kernel_params=[0.3, 0.0, 0.0], one_class=1)])


def cases():
    """Names, the first input, and nodes that compute from x."""
    x = floats(9, 4)
    for norm in ("MAX", "L1", "L2"):
        yield f"Normalizer {norm}", np.concatenate([x, np.zeros((1, 4), np.float32)]), [node("Normalizer", ["x"], ["y"], norm=norm)]
    yield "Scaler", x, [node("Scaler", ["x"], ["y"], offset=numbers(4), scale=numbers(4))]
    yield "Scaler of integers", RANDOM.integers(-9, 9, (9, 4)), [node("Scaler", ["x"], ["y"], offset=[0.5], scale=[2.0])]
    yield "Binarizer", x, [node("Binarizer", ["x"], ["y"], threshold=0.25)]
    holes = x.copy()
    holes[1, 2] = holes[3, 0] = np.nan
    yield "Imputer", holes, [node("Imputer", ["x"], ["y"], imputed_value_floats=numbers(4), replaced_value_float=float("nan"))]
    yield ("Imputer of integers", RANDOM.integers(0, 3, (9, 4)),
           [node("Imputer", ["x"], ["y"], imputed_value_int64s=[7], replaced_value_int64=1)])
    yield "OneHotEncoder", RANDOM.integers(0, 6, (9, 2)), [node("OneHotEncoder", ["x"], ["y"], cats_int64s=[1, 4, 2], zeros=1)]
    yield ("LabelEncoder of integers", RANDOM.integers(0, 6, (9, 2)),
           [node("LabelEncoder", ["x"], ["y"], keys_int64s=[1, 4, 2], values_floats=[0.5, 0.25, 4.0], default_float=-1.0)])
    yield ("LabelEncoder of floats", whole_numbers(9, 2),
           [node("LabelEncoder", ["x"], ["y"], keys_floats=[1.0, float("nan"), -2.0], values_int64s=[5, 6, 7], default_int64=-4)])
    yield ("LabelEncoder to texts", RANDOM.integers(0, 6, (9,)),
           [node("LabelEncoder", ["x"], ["y"], keys_int64s=[1, 4, 2], values_strings=NAMES[:3], default_string="nobody")])
    yield ("LabelEncoder of texts", RANDOM.integers(0, 6, (9,)),
           [node("LabelEncoder", ["x"], ["t"], keys_int64s=[1, 4, 2], values_strings=NAMES[:3], default_string="nobody"),
            node("LabelEncoder", ["t"], ["y"], keys_strings=[NAMES[2], NAMES[0]], values_int64s=[30, 10], default_int64=-1)])
    yield ("CategoryMapper", RANDOM.integers(0, 4, (9,)),
           [node("CategoryMapper", ["x"], ["y"], cats_int64s=[0, 1, 2], cats_strings=NAMES[:3], default_string="none")])
    yield "LinearRegressor", x, [node("LinearRegressor", ["x"], ["y"], coefficients=numbers(3, 4), intercepts=numbers(3), targets=3)]
    for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
        for classes in (2, 4):
            yield (f"LinearClassifier {transform} {classes}", x,
                   classifier("LinearClassifier", transform, {"classlabels_strings": NAMES[:classes]},
                              coefficients=numbers(classes, 4), intercepts=numbers(classes)))
        yield (f"LinearClassifier {transform} of one score", x,
               classifier("LinearClassifier", transform, {"classlabels_ints": [4, 9]}, coefficients=numbers(4), intercepts=[0.1]))
    yield from tree_cases()
    yield from svm_cases()
    yield ("a pipeline", holes,
           [node("Imputer", ["x"], ["a"], imputed_value_floats=[0.5], replaced_value_float=float("nan")),
            node("Scaler", ["a"], ["b"], offset=numbers(4), scale=numbers(4)),
            node("LinearClassifier", ["b"], ["l", "p"], coefficients=numbers(3, 4), intercepts=numbers(3),
                 classlabels_ints=[0, 1, 2], post_transform="LOGISTIC"),
            node("Normalizer", ["p"], ["q"], norm="L1"),
            node("ArrayFeatureExtractor", ["names", "l"], ["t"]),
            helper.make_node("Reshape", ["t", "vector"], ["label"], name="Reshape"),
            node("ZipMap", ["q"], ["score"], classlabels_strings=NAMES[:3])])


def build(x, nodes):
    results = [name for one in nodes for name in one.output if not any(name in other.input for other in nodes)]
    weights = [helper.make_tensor("names", TensorProto.STRING, [3], [name.encode() for name in NAMES[:3]]),
               helper.make_tensor("vector", TensorProto.INT64, [1], [-1])]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TYPES[x.dtype.char], ["N", *x.shape[1:]])],
                              [helper.make_empty_tensor_value_info(name) for name in results], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), ML], ir_version=9)


def as_numbers(value):
    """Texts as ferry has them, as indices; maps from classes to scores as rows."""
    if isinstance(value, list):
        return np.array([list(row.values()) for row in value], np.float32)
    if value.dtype.kind in "OSU":
        names = NAMES[:3] + (["nobody"] if "nobody" in value or "none" not in value else ["none"])
        return np.array([(NAMES if one in NAMES else names).index(one) for one in value.ravel()]).reshape(value.shape)
    return value


class MlTest(unittest.TestCase):
    def check(self, runner, x, nodes, folder):
        model = build(x, nodes)
        onnx.save(model, folder / "net.onnx")
        options = ort.SessionOptions()
        options.log_severity_level = 4
        expected = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        (folder / "again").mkdir()
        for at, value in ((folder, x), (folder / "again", x[3:4])):
            np.save(at / "in0.npy", value)
        kind, text = runner.run(folder, "once", "again")
        self.assertEqual(kind, "fine", text)
        for at, value in ((folder, x), (folder / "again", x[3:4])):
            for number, wanted in enumerate(expected.run(None, {"x": value})):
                wanted, got = as_numbers(wanted), np.load(at / f"out{number}.npy")
                self.assertEqual(got.shape, wanted.shape)
                if wanted.dtype.kind == "f":
                    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)
                else:
                    np.testing.assert_array_equal(got, wanted)

    def test_operators_compute_what_onnx_runtime_does(self):
        runner = Runner(RUN_NETWORKS)
        for name, x, nodes in cases():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.check(runner, x, nodes, Path(folder))
        runner.close()

    def test_trees_that_are_none_are_refused(self):
        runner = Runner(RUN_NETWORKS)
        good = Trees(5, 1, 2, ["BRANCH_LEQ"]).attributes("target", [0])
        for change in ({"nodes_truenodeids": [0] * len(good["nodes_treeids"])}, {"target_ids": [3] * len(good["target_ids"])},
                       {"nodes_featureids": [5] * len(good["nodes_treeids"])}, {"nodes_values": [1.0]},
                       {"nodes_modes": ["BRANCH"] * len(good["nodes_treeids"])}):
            with self.subTest(change), tempfile.TemporaryDirectory() as folder:
                onnx.save(build(floats(2, 5), [node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **{**good, **change})]),
                          Path(folder) / "net.onnx")
                np.save(Path(folder) / "in0.npy", floats(2, 5))
                kind, text = runner.run(Path(folder), "once")
                self.assertEqual(kind, "refused", text)
                self.assertIn("TreeEnsembleRegressor", text)
        runner.close()


if __name__ == "__main__":
    unittest.main()
