"""decoder_test.py RUN_NETWORKS: a decoder as ONNX Runtime's exporter of language models writes it, with weights of 4 bits, computes
what ONNX Runtime does: one module for prompts and for steps with a cache."""
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
HEADS, SHARED, SIZE, INNER, WORDS, LAYERS, BLOCK = 4, 2, 16, 96, 131, 2, 32
WIDTH = HEADS * SIZE
RANDOM = np.random.default_rng(11)


class Decoder:
    def __init__(self):
        self.nodes, self.weights = [], []
        self.infos = [self.info("input_ids", ["batch", "length"], TensorProto.INT64),
                      self.info("attention_mask", ["batch", "total"], TensorProto.INT64)]
        self.outputs = [self.info("logits", ["batch", "length", WORDS])]

    @staticmethod
    def info(name, shape, dtype=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, dtype, shape)

    def constant(self, name, value):
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, outputs, domain="com.microsoft", **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def packed(self, name, rows, depth):
        packed = RANDOM.integers(0, 256, (rows, depth // BLOCK, BLOCK // 2)).astype(np.uint8)
        scales = (RANDOM.random((rows, depth // BLOCK)) * 0.05).astype(np.float32)
        return packed, self.constant(name + ".scales", scales)

    def product(self, name, x, depth, columns):
        packed, scales = self.packed(name, columns, depth)
        return self.node("MatMulNBits", [x, self.constant(name + ".weights", packed), scales], [name], K=depth, N=columns, bits=4,
                         block_size=BLOCK)

    def gain(self, name):
        return self.constant(name, (RANDOM.random(WIDTH) + 0.5).astype(np.float32))

    def layer(self, number, stream, x):
        name = f"layer{number}"
        q, k, v = (self.product(f"{name}.{part}", x, WIDTH, heads * SIZE) for part, heads in (("q", HEADS), ("k", SHARED), ("v", SHARED)))
        cache = [f"past.{number}.{part}" for part in ("key", "value")]
        present = [one.replace("past", "present") for one in cache]
        for one in cache:
            self.infos.append(self.info(one, ["batch", SHARED, "past", SIZE]))
        for one in present:
            self.outputs.append(self.info(one, ["batch", SHARED, "total", SIZE]))
        self.node("GroupQueryAttention", [q, k, v, *cache, "lengths", "total_length", "cosine", "sine"], [f"{name}.attention", *present],
                  num_heads=HEADS, kv_num_heads=SHARED, do_rotary=1)
        a = self.product(f"{name}.o", f"{name}.attention", WIDTH, WIDTH)
        self.node("SkipSimplifiedLayerNormalization", [stream, a, self.gain(f"{name}.gain1")], [f"{name}.n1", "", "", f"{name}.s1"],
                  epsilon=1e-6)
        gate, up = (self.product(f"{name}.{part}", f"{name}.n1", WIDTH, INNER) for part in ("gate", "up"))
        self.node("Sigmoid", [gate], [f"{name}.sigmoid"], "")
        self.node("Mul", [gate, f"{name}.sigmoid"], [f"{name}.silu"], "")
        self.node("Mul", [f"{name}.silu", up], [f"{name}.inner"], "")
        down = self.product(f"{name}.down", f"{name}.inner", INNER, WIDTH)
        self.node("SkipSimplifiedLayerNormalization", [f"{name}.s1", down, self.gain(f"{name}.gain2")], [f"{name}.n2", "", "", f"{name}.s2"],
                  epsilon=1e-6)
        return f"{name}.s2", f"{name}.n2"

    def model(self):
        # The lengths, as exporters compute them from the mask.
        self.node("Shape", ["attention_mask"], ["mask_shape"], "")
        self.node("Gather", ["mask_shape", self.constant("one", np.array(1))], ["total64"], "", axis=0)
        self.node("Cast", ["total64"], ["total_length"], "", to=TensorProto.INT32)
        self.node("ReduceSum", ["attention_mask", self.constant("axes", np.array([1]))], ["sums"], "", keepdims=0)
        self.node("Sub", ["sums", "one"], ["less"], "")
        self.node("Cast", ["less"], ["lengths"], "", to=TensorProto.INT32)
        angles = np.outer(np.arange(64), 10000.0 ** (-np.arange(SIZE // 2) * 2 / SIZE))
        self.constant("cosine", np.cos(angles).astype(np.float32))
        self.constant("sine", np.sin(angles).astype(np.float32))
        table, scales = self.packed("embedding", WORDS, WIDTH)
        stream = self.node("GatherBlockQuantized", [self.constant("embedding.table", table.reshape(WORDS, -1)), "input_ids", scales],
                           ["embedding"], bits=4, block_size=BLOCK, quantize_axis=1, gather_axis=0)
        x = self.node("SimplifiedLayerNormalization", [stream, self.gain("gain0")], ["n0"], "", axis=-1, epsilon=1e-6, stash_type=1)
        for number in range(LAYERS):
            stream, x = self.layer(number, stream, x)
        self.nodes[-1].output[0] = "last"
        packed, scales = self.packed("head", WORDS, WIDTH)
        self.node("MatMulNBits", ["last", self.constant("head.weights", packed), scales], ["logits"], K=WIDTH, N=WORDS, bits=4,
                  block_size=BLOCK)
        graph = helper.make_graph(self.nodes, "decoder", self.infos, self.outputs, self.weights)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


class DecoderTest(unittest.TestCase):
    def test_prompts_and_steps_compute_what_onnx_runtime_does(self):
        model = Decoder().model()
        peer = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        names = [one.name for one in peer.get_inputs()]
        runner = Runner(RUN_NETWORKS)
        self.addCleanup(runner.close)
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model, Path(folder) / "net.onnx")
            at, calls = Path(folder), []
            caches = [np.zeros((2, SHARED, 0, SIZE), np.float32)] * (2 * LAYERS)
            for length in (7, 1, 1):  # a prompt, and two steps with what the calls before have left
                past = caches[0].shape[2]
                feeds = {"input_ids": RANDOM.integers(0, WORDS, (2, length)), "attention_mask": np.ones((2, past + length), np.int64)}
                feeds |= dict(zip(names[2:], caches, strict=True))
                at.mkdir(exist_ok=True)
                for number, name in enumerate(names):
                    np.save(at / f"in{number}.npy", feeds[name])
                expected = peer.run(None, feeds)
                calls.append((at, expected))
                caches, at = expected[1:], at / "again"
            kind, text = runner.run(folder, "again")
            self.assertEqual(kind, "fine", text)
            for at, expected in calls:
                for number, value in enumerate(expected):
                    got = np.load(at / f"out{number}.npy")
                    self.assertEqual(got.shape, value.shape)
                    np.testing.assert_allclose(got, value, rtol=1e-3, atol=1e-4, err_msg=f"output {number} of {at}")


if __name__ == "__main__":
    unittest.main()
