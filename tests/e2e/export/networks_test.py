"""networks_test.py FERRY: exported networks compute what `ferry run` computes, with weights inside and in a file."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples/networks"))
sys.path.insert(0, str(Path(__file__).parents[1] / "networks"))

import exported
import models
import numpy as np
import onnx
from data_sizes import body_of
from exported import Exported, aligned

exported.FERRY = sys.argv.pop(1)
NULL, ARENA_BYTES, WEIGHTS = -1, -3, -8


def small():
    """A few layers of each kind: convolutions of which one is depthwise, pooling, a sum, a linear layer."""
    net = models.Network("small", ["batch", 3, 20, 20], opset=13)
    x = net.relu(net.conv("x", 3, 20, 3, padding=1))
    y = net.relu(net.conv(net.conv(x, 20, 20, 3, padding=1, groups=20), 20, 20, 1))
    pooled = net.max_pool(net.node("Add", x, y), 2, 2)
    features = net.node("Flatten", net.node("GlobalAveragePool", pooled), axis=1)
    return net.model(net.linear(features, 20, 10))


def recurrent():
    """A bidirectional LSTM over twelve steps, the last states of both directions, and a linear layer."""
    net = models.Network("recurrent", ["batch", 12, 5], opset=14)
    steps = net.node("Transpose", "x", perm=[1, 0, 2])
    weights = [net.weight(2, 4 * 16, 5, scale=0.4), net.weight(2, 4 * 16, 16, scale=0.3), net.weight(2, 8 * 16, scale=0.2)]
    _, last, _ = net.node("LSTM", steps, *weights, outputs=3, hidden_size=16, direction="bidirectional")
    joined = net.node("Flatten", net.node("Transpose", last, perm=[1, 0, 2]), axis=1)
    return net.model(net.linear(joined, 32, 10))


def halving():
    """Halves x until all of it is small, and adds up what up to 40 steps give."""
    net = models.Network("halving", ["batch", 12, 5], opset=18)

    def half(body, iteration, condition, x):
        y = body.op("Mul", x, body.constant(np.float32(0.5)))
        largest = body.op("ReduceMax", body.op("Abs", y), keepdims=0)
        return body.op("Less", body.constant(np.float32(0.01)), largest), y, y

    state = [("f", ["batch", 12, 5])]
    true, most = net.constant(True, np.bool_), net.constant(40, np.int64)
    _, steps = net.node("Loop", most, true, "x", outputs=2, body=body_of(state, half, "first_"))
    last = net.node("Loop", "", true, "x", body=body_of(state, lambda *inputs: half(*inputs)[:2], "second_"))
    stacked = net.node("ReduceSum", steps, net.constant([0], np.int64), keepdims=0)
    return net.model(net.node("Add", stacked, last))


class NetworksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def network(self, model):
        path = self.folder / "net.onnx"
        onnx.save(model, path)
        self.output = model.graph.output[0].name
        return path

    def expected(self, x, *options):
        return exported.run(self.folder / "net.onnx", [self.output], *options, x=x)[0]

    def input(self, batch, size):
        return aligned(np.random.default_rng(2).standard_normal((batch, 3, size, size), np.float32))

    def check(self, net, x, y_shape, init=(), threads=None, number=1):
        y = aligned(np.zeros(y_shape, np.float32))
        instance = net.make(len(x), arguments=init, threads=threads, number=number)
        expected = self.expected(x)
        for _ in range(3):
            y[...] = 0
            code = net.call("run", instance, x, y, len(x))
            self.assertEqual(code, 0, net.message(code))
            np.testing.assert_array_equal(y, expected)

    def test_a_network_computes_the_bits_of_ferry_run_for_every_batch(self):
        net = Exported(self.network(small()), "net")
        for batch in (1, 3):
            self.check(net, self.input(batch, 20), (batch, 10))

    def test_an_arena_for_one_image_is_refused_for_more(self):
        net = Exported(self.network(small()), "net")
        x, y = self.input(8, 20), aligned(np.zeros((8, 10), np.float32))
        instance = net.make(1)
        self.assertEqual(net.call("run", instance, x, y, 8), ARENA_BYTES)
        self.assertEqual(net.call("run", instance, x, y, 1), 0)
        self.assertEqual(net.init(aligned(net.arena_bytes(1))[:64]), ARENA_BYTES)

    def test_threads_compute_the_same(self):
        net = Exported(self.network(models.resnet50_stage(9)), "net")
        x = aligned(np.random.default_rng(2).standard_normal((2, 64, 9, 9), np.float32))
        self.check(net, x, (2, 256 * 9 * 9))
        pool = net.start_threads(2)
        self.check(net, x, (2, 256 * 9 * 9), threads=pool, number=2)
        net.call("threads_stop", pool, result=None)

    def test_weights_in_a_file_are_verified(self):
        net = Exported(self.network(small()), "net", "--weights")
        weights = aligned(np.fromfile(net.path("net.weights"), np.uint8))
        inside = Exported(self.folder / "net.onnx", "net")
        self.assertGreater(inside.path("libnet.so").stat().st_size, net.path("libnet.so").stat().st_size)
        self.check(net, self.input(2, 20), (2, 10), init=(weights, weights.nbytes))
        arena = aligned(net.arena_bytes(1))
        self.assertEqual(net.init(arena, None, weights.nbytes), NULL)
        self.assertEqual(net.init(arena, weights, weights.nbytes - 64), WEIGHTS)
        self.assertEqual(net.init(arena, aligned(weights, offset=16), weights.nbytes), WEIGHTS)
        for place in (0, weights.nbytes // 2, weights.nbytes - 1):
            weights[place] ^= 128
            self.assertEqual(net.init(arena, weights, weights.nbytes), WEIGHTS)
            weights[place] ^= 128
        self.assertNotIsInstance(net.init(arena, weights, weights.nbytes), int)

    def test_a_fixed_batch_is_no_argument(self):
        net = Exported(self.network(small()), "net", "--fix", "batch=2")
        x, y = self.input(2, 20), aligned(np.zeros((2, 10), np.float32))
        self.assertEqual(net.call("run", net.make(), x, y), 0)
        np.testing.assert_array_equal(y, self.expected(x, "--fix", "batch=2"))

    def test_an_input_that_decides_shapes_is_bound(self):
        net = models.Network("bound", ["batch", 3, 4, 4], opset=13)
        net.inputs.append(onnx.helper.make_tensor_value_info("shape", onnx.TensorProto.INT64, [2]))
        network = self.network(net.model(net.node("Reshape", net.relu(net.conv("x", 3, 8, 3, padding=1)), "shape")))
        np.save(self.folder / "shape.npy", np.array([-1, 32], np.int64))
        bound = ["--bind", f"shape=@{self.folder / 'shape.npy'}"]
        x, y = self.input(2, 4), aligned(np.zeros((8, 32), np.float32))
        exported_net = Exported(network, "net", *bound)
        self.assertEqual(exported_net.call("run", exported_net.make(2), x, y, 2), 0)
        np.testing.assert_array_equal(y, self.expected(x, *bound))

    def sum_of(self, names, file):
        """Saves a network that adds up inputs of these names."""
        inputs = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in names]
        node = onnx.helper.make_node("Sum", names, ["bytes"])
        graph = onnx.helper.make_graph([node], "sum", inputs, [onnx.helper.make_empty_tensor_value_info("bytes")])
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8),
                  self.folder / file)
        return self.folder / file

    def test_tensors_may_be_called_as_types_macros_and_functions_of_c_are(self):
        names = ["int64_t", "uint8_t", "INT64_MAX", "count", "words", "number", "i", "printf", "allocate", "expect",
                 "sum_instance", "sum_threads", "sum_arena_alignment", "size_t", "a b", "a_b", "NULL"]
        network, folder = self.sum_of(names, "sum.onnx"), self.folder / "sum"
        exported.ferry("export", network, "-o", folder)
        exported.tool("make", "-C", folder, "CFLAGS=-std=c11 -Wall -Wextra -Werror", "example")
        # The example's inputs are -3, -2, -1, 0.
        self.assertIn(f"bytes_[0] = {-3 * len(names)}\n", exported.tool(folder / "example"))
        exported.tool("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", folder / "sum.h")

    def test_a_network_may_be_called_main(self):
        network = self.sum_of(["x", "z"], "main.onnx")
        for form in ([], ["--archive"], ["--shared"]):
            folder = self.folder / f"form{len(form)}{''.join(form)}"
            exported.ferry("export", network, "-o", folder, *form)
            exported.tool("make", "-C", folder, "CFLAGS=-std=c11 -Wall -Wextra -Werror", "example")
            self.assertIn("[0] = -6\n", exported.tool(folder / "example"))

    def test_the_same_network_exports_to_the_same_bytes(self):
        network = self.network(models.resnet50_stage(9))
        contents = []
        for folder in (self.folder / "one", self.folder / "two"):
            exported.ferry("export", network, "--target", "raspberry-pi-4", "--weights", "-o", folder)
            contents.append({file.name: file.read_bytes() for file in folder.iterdir()})
        self.assertEqual(contents[0], contents[1])

    def test_programs_of_four_architectures_run_networks_without_allocations_and_at_once(self):
        network = self.network(small())
        x = self.input(2, 20)
        expected = self.expected(x)
        for target in exported.TARGETS:
            with self.subTest(target[0]):
                y = exported.run_driver(self.folder, network, x, (2, 10), target)
                np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)

    def test_programs_of_32_and_64_bits_run_loops(self):
        network = self.network(recurrent())
        x = aligned(np.random.default_rng(3).standard_normal((3, 12, 5), np.float32))
        self.assertIn("repeat the next", exported.ferry("compile", network, "--emit", "plan"))
        expected = self.expected(x)
        for target in exported.TARGETS:
            if target[0] not in ("armv7", "riscv64"):
                continue
            with self.subTest(target[0]):
                y = exported.run_driver(self.folder, network, x, (3, 10), target)
                np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)

    def test_programs_end_loops_by_their_conditions(self):
        network = self.network(halving())
        plan = exported.ferry("compile", network, "--emit", "plan")
        self.assertEqual(plan.count(" times at most, while "), 2, plan)
        for x in (np.random.default_rng(4).standard_normal((3, 12, 5)), np.full((1, 12, 5), 0.001)):
            x = aligned(x.astype(np.float32))
            expected = self.expected(x)
            for target in exported.TARGETS:
                if target[0] == "raspberry-pi-4":
                    continue
                with self.subTest(target[0]):
                    y = exported.run_driver(self.folder, network, x, x.shape, target)
                    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)

    def test_the_code_of_mobilenet_for_a_raspberry_pi_is_below_200_kb(self):
        network = self.network(models.mobilenet_v2())
        folder = self.folder / "out"
        exported.ferry("export", network, "--target", "raspberry-pi-4", "--fix", "batch=1", "--weights", "-o", folder)
        text, data = map(int, exported.tool("size", folder / "net.o").splitlines()[1].split()[:2])
        self.assertLess(text + data, 200_000)

    def test_programs_link_networks_as_objects_archives_and_shared_libraries(self):
        network = self.network(small())
        x = self.input(2, 20)
        results = [exported.run_driver(self.folder, network, x, (2, 10), exported.TARGETS[0], form)
                   for form in ("", "--archive", "--shared")]
        np.testing.assert_array_equal(results[1], results[0])
        np.testing.assert_array_equal(results[2], results[0])


if __name__ == "__main__":
    unittest.main()
