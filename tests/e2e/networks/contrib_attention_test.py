"""contrib_attention_test.py RUN_NETWORKS EVERY: attention of com.microsoft computes what ONNX Runtime does, with sizes that are fixed,
and as one module for several batches, lengths and caches."""
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
EVERY = int(sys.argv.pop(1))  # one of so many cases with fixed sizes, all with open ones
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32}
RANDOM = np.random.default_rng(5)
HEADS, SIZE = 6, 8


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


class Open:
    """An input of the network; dimensions that have a name are open."""

    def __init__(self, value, *names):
        self.value, self.shape = value, [name or size for name, size in zip(names, value.shape, strict=True)]


class Case:
    """A node, whose inputs a function returns for a batch, a length and the length of the past: arrays are constants, None
    is not given, and a text is a tensor that the nodes in front compute. `peer` returns the inputs that mean the same to ONNX
    Runtime, where it lacks something."""

    def __init__(self, name, op, outputs, attributes, inputs, sizes=((2, 5, 3), (1, 3, 7)), before=None, peer=None, fixed=False):
        self.name, self.op, self.outputs, self.attributes = name, op, outputs, attributes
        self.inputs, self.sizes, self.before, self.peer, self.fixed, self.extra = inputs, sizes, before, peer, fixed, {}

    def model(self, inputs):
        infos, weights = [], []
        given = [(f"i{number}", one) for number, one in enumerate(inputs)]
        for name, one in [*given, *self.extra.items()]:
            if isinstance(one, Open):
                infos.append(helper.make_tensor_value_info(name, TYPES[one.value.dtype], one.value.shape if self.fixed else one.shape))
            elif isinstance(one, np.ndarray):
                weights.append(onnx.numpy_helper.from_array(one, name))
        names = ["" if one is None else one if isinstance(one, str) else name for name, one in given]
        node = helper.make_node(self.op, names, self.outputs, name="n", domain="com.microsoft", **self.attributes)
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs if name]
        before, constants = (self.before or (lambda: ([], [])))()
        graph = helper.make_graph([*before, node], "net", infos, outputs, weights + constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def qkv(batch, length):
    return [Open(floats(batch, length, HEADS * SIZE), "batch", "length", None) for _ in range(3)]


def cache(batch, past, heads=HEADS):
    return [Open(floats(batch, heads, past, SIZE), "batch", None, "past", None) for _ in range(2)]


def part(packed, number):
    value = packed.value[:, :, :, number]
    return Open(value.reshape(*value.shape[:2], -1), None, None, None)


def multi_head_cases():
    heads, op, every = {"num_heads": HEADS}, "MultiHeadAttention", ["y", "k", "v"]
    bias = floats(3 * HEADS * SIZE)

    def mask(batch, keys):
        return Open(RANDOM.integers(0, 2, (batch, keys)).astype(np.int32), "batch", "keys")

    yield Case("plain", op, ["y"], heads, lambda b, n, p: qkv(b, n))
    yield Case("with a scale", op, ["y"], heads | {"scale": 0.3}, lambda b, n, p: [*qkv(b, n), bias])
    yield Case("causal", op, ["y"], heads | {"unidirectional": 1}, lambda b, n, p: qkv(b, n))
    yield Case("with a mask of keys", op, ["y"], heads, lambda b, n, p: [*qkv(b, n), bias, mask(b, n)])
    yield Case("with a mask of queries and keys", op, ["y"], heads | {"mask_filter_value": -1000.0},
               lambda b, n, p: [*qkv(b, n), None, Open(RANDOM.integers(0, 2, (b, n, n)).astype(np.int32), "batch", "length", "length")])
    yield Case("with a bias of scores", op, ["y"], heads,
               lambda b, n, p: [*qkv(b, n), None, None, Open(floats(1, HEADS, n, n), None, None, "length", "length")])
    yield Case("with a past", op, every, heads, lambda b, n, p: [*qkv(b, n), bias, None, None, *cache(b, p)])
    yield Case("with an empty past", op, every, heads | {"unidirectional": 1},
               lambda b, n, p: [*qkv(b, n), bias, None, None, *cache(b, p)], sizes=((2, 5, 3), (3, 5, 0), (1, 1, 11)))
    yield Case("with packed keys and values", op, ["y"], heads,
               lambda b, n, p: [qkv(b, n)[0], Open(floats(b, p, HEADS, 2, SIZE), "batch", "other", None, None, None)],
               peer=lambda inputs: [inputs[0], part(inputs[1], 0), part(inputs[1], 1)])
    yield Case("with all packed", op, ["y"], heads,
               lambda b, n, p: [Open(floats(b, n, HEADS, 3, SIZE), "batch", "length", None, None, None), None, None, bias],
               peer=lambda inputs: [*(part(inputs[0], i) for i in range(3)), bias])
    yield Case("with keys of another sequence", op, ["y"], heads, lambda b, n, p: [qkv(b, n)[0], *cache(b, p), bias])
    yield Case("with scores", op, ["y", "", "", "s"], heads, lambda b, n, p: qkv(b, n))


def attention_cases():
    width, op = 13, "Attention"
    weights, bias = floats(width, 3 * HEADS * SIZE), floats(3 * HEADS * SIZE)
    narrow = floats(width, (2 * 8 + 3) * HEADS)

    def given(batch, length):
        return [Open(floats(batch, length, width), "batch", "length", None), weights, bias]

    def integers(*shape):
        return RANDOM.integers(0, 2, shape).astype(np.int32)

    yield Case("plain", op, ["y"], {"num_heads": HEADS}, lambda b, n, p: given(b, n))
    yield Case("causal", op, ["y"], {"num_heads": HEADS, "unidirectional": 1}, lambda b, n, p: given(b, n))
    yield Case("without a bias", op, ["y"], {"num_heads": HEADS, "scale": 0.2}, lambda b, n, p: given(b, n)[:2],
               peer=lambda inputs: [*inputs, np.zeros_like(bias)])
    yield Case("with values of another size", op, ["y"], {"num_heads": HEADS, "qkv_hidden_sizes": [HEADS * 8, HEADS * 8, HEADS * 3]},
               lambda b, n, p: [given(b, n)[0], narrow, np.ones(19 * HEADS, np.float32)])
    yield Case("with a mask of keys", op, ["y"], {"num_heads": HEADS},
               lambda b, n, p: [*given(b, n), Open(integers(b, n), "batch", "length")])
    yield Case("with a mask of queries", op, ["y"], {"num_heads": HEADS, "unidirectional": 1},
               lambda b, n, p: [*given(b, n), Open(integers(b, n, n), "batch", "length", "length")])
    yield Case("with ends", op, ["y"], {"num_heads": HEADS},
               lambda b, n, p: [*given(b, n), Open(RANDOM.integers(1, n + 1, b).astype(np.int32), "batch")])
    yield Case("with ends and beginnings", op, ["y"], {"num_heads": HEADS}, lambda b, n, p: [
        *given(b, n), Open(np.array([n] * b + [n // 2] * b, np.int32), None)], sizes=((2, 5, 0),), fixed=True)
    yield Case("with a past", op, ["y", "present"], {"num_heads": HEADS, "unidirectional": 1}, lambda b, n, p: [
        *given(b, n), None, Open(floats(2, b, HEADS, p, SIZE), None, "batch", None, "past", None)])
    yield Case("with a bias of scores", op, ["y"], {"num_heads": HEADS}, lambda b, n, p: [
        *given(b, n), None, None, Open(floats(b, 1, n, n), "batch", None, "length", "length")])


def mask_nodes():
    """Nodes that compute what the operator reads of the lengths from the network's attention_mask, as decoders do."""
    nodes = [
        helper.make_node("Shape", ["attention_mask"], ["mask_shape"]),
        helper.make_node("Gather", ["mask_shape", "one"], ["total64"]),
        helper.make_node("Cast", ["total64"], ["total"], to=TensorProto.INT32),
        helper.make_node("ReduceSum", ["attention_mask", "axes"], ["sums"], keepdims=0),
        helper.make_node("Sub", ["sums", "one"], ["less"]),
        helper.make_node("Cast", ["less"], ["lengths"], to=TensorProto.INT32)]
    return nodes, [helper.make_tensor("one", TensorProto.INT64, [], [1]), helper.make_tensor("axes", TensorProto.INT64, [1], [1])]


def group_query_cases():
    op, every, heads, shared, size = "GroupQueryAttention", ["y", "k", "v"], 6, 2, 16
    rotary = [floats(40, size // 2), floats(40, size // 2)]
    weights = [floats(size), floats(size)]
    attributes = {"num_heads": heads, "kv_num_heads": shared}

    def case(name, extra, angles=(None, None), room=0, ragged=True, packed=False, bias=False, steps=False, sink=None, norms=(),
             peer=None, sizes=None):
        def inputs(batch, length, past):
            total = past + length
            first = [Open(floats(batch, length, n * size), "batch", "length", None) for n in (heads, shared, shared)]
            if packed:
                first = [Open(floats(batch, length, (heads + 2 * shared) * size), "batch", "length", None), None, None]
            mask = np.ones((batch, total), np.int64)
            if ragged and total > 2:
                mask[1:, total - (1 if past else 2):] = 0  # padding on the right
            result.extra["attention_mask"] = Open(mask, "batch", "total")
            past_keys = [Open(floats(batch, shared, past + room, size), "batch", None, "past", None) for _ in range(2)]
            scores = Open(floats(batch, 1, length, total), "batch", None, "length", "total") if bias else None
            more = [None, scores, sink, None, None, *norms] if bias or norms or sink is not None else []
            return [*first, *past_keys, "lengths", "total", *angles, *more]
        result = Case(name, op, every, attributes | extra, inputs, before=mask_nodes, peer=peer,
                      sizes=sizes or ((3, 1, 5), (1, 1, 9), (2, 1, 1)) if sizes or steps else ((2, 5, 0), (1, 3, 0), (3, 1, 0), (2, 1, 4)))
        return result

    def with_norms(inputs):
        q, k = (Open(normalized(x.value, weight), None, None, None) for x, weight in zip(inputs, weights))
        return [q, k, *inputs[2:9]]

    def normalized(x, weight):
        split = x.reshape(*x.shape[:2], -1, size)
        return (split / np.sqrt((split * split).mean(-1, keepdims=True) + 1e-6) * weight).reshape(x.shape)

    yield case("of prompts and steps", {})
    yield case("with rotary embeddings", {"do_rotary": 1}, rotary)
    yield case("with interleaved rotary embeddings", {"do_rotary": 1, "rotary_interleaved": 1}, rotary)
    yield case("of packed inputs", {"do_rotary": 1}, rotary, packed=True)
    yield case("with room in the cache", {"do_rotary": 1}, rotary, steps=True, room=6)
    yield case("with a window", {"local_window_size": 3}, steps=True)
    yield case("with a window of prompts", {"local_window_size": 2})
    yield case("with a cap and a scale", {"softcap": 2.0, "scale": 0.7}, steps=True)
    yield case("with a smooth softmax", {"smooth_softmax": 1}, steps=True)
    yield case("with sinks", {}, sink=floats(heads))
    yield case("with a bias of scores", {"softcap": 1.5}, steps=True, bias=True, ragged=False)
    yield case("of one sequence", {"do_rotary": 1}, rotary, sizes=((1, 1, 5), (1, 1, 11)))
    yield case("in both directions", {"causal": 0}, steps=True)
    yield case("with normalised heads", {}, norms=weights, peer=with_norms)


def feeds_of(case, inputs):
    given = {f"i{number}": one for number, one in enumerate(inputs)} | case.extra
    return {name: one.value for name, one in given.items() if isinstance(one, Open)}


def defined(case, number, output):
    """Returns an output with 0 in place of what padding leaves undefined: rows of the result, and the rest of a cache."""
    if "attention_mask" not in case.extra:
        return output
    lengths = case.extra["attention_mask"].value.sum(1)[:, None]
    if number == 0:
        begins = np.maximum(lengths - output.shape[1], 0)
        return np.where((begins + np.arange(output.shape[1]) < lengths)[:, :, None], output, 0)
    return np.where((np.arange(output.shape[2]) < lengths)[:, None, :, None], output, 0)


def computed(case, inputs):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    peer = ort.InferenceSession(case.model(inputs).SerializeToString(), options, providers=["CPUExecutionProvider"])
    return peer.run(None, feeds_of(case, inputs))


class ContribAttentionTest(unittest.TestCase):
    def check(self, runner, case, folder, sizes):
        at, model, calls = folder, None, []
        for size in sizes:
            inputs = case.inputs(*size)
            if model is None:
                model = case.model(inputs)
                onnx.save(model, folder / "net.onnx")
            at.mkdir(exist_ok=True)
            for number, value in enumerate(feeds_of(case, inputs).values()):
                np.save(at / f"in{number}.npy", value)
            calls.append((at, case.peer(inputs) if case.peer else inputs, dict(case.extra)))
            at = at / "again"
        kind, text = runner.run(folder, *(["again"] if len(calls) > 1 else []))
        self.assertEqual(kind, "fine", text)
        for at, inputs, case.extra in calls:
            for number, expected in enumerate(computed(case, inputs)):
                got = np.load(at / f"out{number}.npy")
                self.assertEqual((got.shape, got.dtype), (expected.shape, expected.dtype))
                got, expected = (defined(case, number, x) for x in (got, expected))
                np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2e-5, err_msg=f"output {number} of {at}")

    def check_all(self, sizes, every=1):
        runner = Runner(RUN_NETWORKS)
        for case in [*multi_head_cases(), *attention_cases(), *group_query_cases()][::every]:
            with self.subTest(f"{case.op} {case.name}"), tempfile.TemporaryDirectory() as folder:
                self.check(runner, case, Path(folder), sizes(case))
        runner.close()

    def test_open_sizes_compute_what_onnx_runtime_does(self):
        self.check_all(lambda case: case.sizes)

    def test_fixed_sizes_compute_what_onnx_runtime_does(self):
        def last(case):
            case.fixed = True
            return case.sizes[-1:]
        self.check_all(last, EVERY)


if __name__ == "__main__":
    unittest.main()
