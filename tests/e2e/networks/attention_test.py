"""attention_test.py RUN_NETWORKS FERRY: attention of plain nodes computes what loops in double precision do, in one kernel of all
sizes, in one for a size, and with each node in a kernel of its own."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from runner import Runner

RUN_NETWORKS, FERRY = sys.argv.pop(1), sys.argv.pop(1)
RANDOM = np.random.default_rng(3)
SAME = [(197, 197), (7, 7), (1, 1), (33, 33)]  # queries and keys
OTHERS = [(18, 5), (1, 33)]
MASKS = {"none": None, "additive": TensorProto.FLOAT, "boolean": TensorProto.BOOL}


def model(heads, size, mask, queries="queries", keys="keys"):
    """Attention to `keys` of `queries`, whose numbers are open as that of batches is, or one number."""
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", heads, length, size])
             for name, length in (("q", queries), ("k", keys), ("v", keys))]
    weights = [onnx.numpy_helper.from_array(np.float32(size ** -0.5), "scale"),
               onnx.numpy_helper.from_array(np.float32(-np.inf), "masked")]
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["q", "kt"], ["products"]),
             helper.make_node("Mul", ["products", "scale"], ["scores"])]
    if MASKS[mask]:
        infos.append(helper.make_tensor_value_info("mask", MASKS[mask], [queries, keys]))
        nodes.append(helper.make_node("Add", ["scores", "mask"], ["biased"]) if mask == "additive" else
                     helper.make_node("Where", ["mask", "scores", "masked"], ["biased"]))
    nodes += [helper.make_node("Softmax", ["biased" if MASKS[mask] else "scores"], ["weights"], axis=3),
              helper.make_node("MatMul", ["weights", "v"], ["y"])]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", heads, queries, size])
    graph = helper.make_graph(nodes, "net", infos, [output], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def inputs_of(heads, size, mask, queries, keys):
    q, k, v = (RANDOM.standard_normal((2, heads, length, size)).astype(np.float32) for length in (queries, keys, keys))
    # The result of a row whose keys are all masked is NaN.
    allowed = np.tri(queries, keys, dtype=bool)
    allowed[queries // 2] = queries < 7
    additive = np.where(allowed, RANDOM.standard_normal((queries, keys)), -np.inf).astype(np.float32)
    return [q, k, v, *({"none": [], "additive": [additive], "boolean": [allowed]}[mask])]


def attention(mask, q, k, v, bias=None):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    y = np.empty_like(q)
    for batch, head, row in np.ndindex(q.shape[:3]):
        scores = np.array([np.dot(q[batch, head, row], key) for key in k[batch, head]]) * q.shape[3] ** -0.5
        if mask == "additive":
            scores = scores + bias[row]
        elif mask == "boolean":
            scores = np.where(bias[row], scores, -np.inf)
        with np.errstate(invalid="ignore"):
            weights = np.exp(scores - scores.max())
        y[batch, head, row] = (weights[:, None] * v[batch, head]).sum(0) / weights.sum()
    return y


class AttentionTest(unittest.TestCase):
    def expect(self, got, mask, inputs, what):
        np.testing.assert_allclose(got, attention(mask, *inputs), rtol=2e-5, atol=2e-6, err_msg=what)

    def test_one_module_of_open_sizes(self):
        runner = Runner(RUN_NETWORKS)
        self.addCleanup(runner.close)
        for heads, size, all_lengths in ((1, 1, SAME), (3, 5, SAME), (3, 64, SAME), (1, 64, OTHERS)):
            for mask in MASKS:
                with tempfile.TemporaryDirectory() as name:
                    folder, at, calls = Path(name), Path(name), []
                    names = ("length", "length") if all_lengths == SAME else ("queries", "keys")
                    onnx.save(model(heads, size, mask, *names), folder / "net.onnx")
                    for lengths in all_lengths:
                        at.mkdir(exist_ok=True)
                        calls.append((at, inputs_of(heads, size, mask, *lengths)))
                        for number, value in enumerate(calls[-1][1]):
                            np.save(at / f"in{number}.npy", value)
                        at = at / "again"
                    kind, text = runner.run(folder, "again")
                    self.assertEqual(kind, "fine", text)
                    for at, inputs in calls:
                        self.expect(np.load(at / "out0.npy"), mask, inputs,
                                    f"{heads} heads of {size}, mask {mask}, {inputs[0].shape} and {inputs[1].shape}")

    def test_fixed_sizes_with_and_without_blocks_of_rows(self):
        for l2_bytes, is_fused in ((4096, True), (1 << 24, False)):
            for heads, size, mask, queries, keys in ((3, 5, "boolean", 41, 29), (1, 64, "additive", 197, 197)):
                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    onnx.save(model(heads, size, mask), folder / "net.onnx")
                    inputs = inputs_of(heads, size, mask, queries, keys)
                    words = ["--fix", f"batch=2,queries={queries},keys={keys}", "--target",
                             f"llvm -l2-bytes={l2_bytes}"]
                    for one, value in zip(("q", "k", "v", "mask"), inputs):
                        np.save(folder / f"{one}.npy", value)
                        words += ["--arg", f"{one}=@{folder / one}.npy"]
                    done = subprocess.run([FERRY, "run", folder / "net.onnx", *words, "--out", f"y=@{folder / 'y.npy'}"],
                                          capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.expect(np.load(folder / "y.npy"), mask, inputs, f"{heads} heads of {size}, L2 of {l2_bytes}")
                    groups = subprocess.run([FERRY, "compile", folder / "net.onnx", *words[:4], "--emit", "groups"],
                                            capture_output=True, text=True, check=True).stdout
                    self.assertEqual("fuses_rows" in groups, is_fused, groups)


if __name__ == "__main__":
    unittest.main()
