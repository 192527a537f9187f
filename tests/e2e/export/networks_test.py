"""networks_test.py FERRY: exported networks compute what `ferry run` computes, with weights inside and in a file."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "examples/networks"))

import exported
import models
import numpy as np
import onnx
from exported import Exported, aligned

exported.FERRY = sys.argv.pop(1)
NULL, ARENA_BYTES, WEIGHTS = -1, -3, -8
MACHINES = [
    ("armv7", "arm-linux-gnueabihf-gcc", ["qemu-arm", "-cpu", "cortex-a7", "-L", "/usr/arm-linux-gnueabihf"]),
    ("raspberry-pi-4", "aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "cortex-a72", "-L", "/usr/aarch64-linux-gnu"]),
    ("riscv64", "riscv64-linux-gnu-gcc", ["qemu-riscv64", "-cpu", "rv64", "-L", "/usr/riscv64-linux-gnu"]),
]


def small():
    """A few layers of each kind: convolutions of which one is depthwise, pooling, a sum, a linear layer."""
    net = models.Network("small", ["batch", 3, 20, 20], opset=13)
    x = net.relu(net.conv("x", 3, 20, 3, padding=1))
    y = net.relu(net.conv(net.conv(x, 20, 20, 3, padding=1, groups=20), 20, 20, 1))
    pooled = net.max_pool(net.node("Add", x, y), 2, 2)
    features = net.node("Flatten", net.node("GlobalAveragePool", pooled), axis=1)
    return net.model(net.linear(features, 20, 10))


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
        for _ in range(3):
            y[...] = 0
            code = net.call("run", instance, x, y, len(x))
            self.assertEqual(code, 0, net.message(code))
            np.testing.assert_array_equal(y, self.expected(x))

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
        net = Exported(self.network(models.resnet18(62, 10)), "net")
        x = self.input(2, 62)
        self.check(net, x, (2, 10))
        pool = net.start_threads(2)
        self.check(net, x, (2, 10), threads=pool, number=2)
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

    def test_networks_run_on_other_machines(self):
        model = small()
        network = self.network(model)
        x = self.input(2, 20)
        x.tofile(self.folder / "x.raw")
        for target, compiler, emulator in MACHINES:
            with self.subTest(target):
                folder = self.folder / target
                exported.ferry("export", network, "--target", target, "-o", folder)
                for words in ([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{folder}", "-Wl,-z,text", "-o", folder / "driver",
                               HERE / "network_driver.c", folder / "net.o", folder / "net_threads.o", "-pthread"],
                              [*emulator, folder / "driver", self.folder / "x.raw", folder / "y.raw"]):
                    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                y = np.fromfile(folder / "y.raw", np.float32).reshape(2, 10)
                np.testing.assert_allclose(y, self.expected(x), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
