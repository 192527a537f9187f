"""cache_test.py FERRY: networks that were compiled before come from the cache, and their steps keep their descriptions."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import models
import numpy as np
import onnx

FERRY = sys.argv.pop(1)


def small():
    """Two convolutions, pooling and a linear layer, which compile quickly."""
    net = models.Network("small", ["batch", 3, 30, 30], opset=13)
    x = net.relu(net.conv("x", 3, 16, 3, stride=2))
    x = net.relu(net.conv(x, 16, 24, 3))
    return net.model(net.linear(net.node("Flatten", net.node("GlobalAveragePool", x), axis=1), 24, 10))


class CacheTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = small()
        onnx.save(self.model, self.path("net.onnx"))
        np.save(self.path("x.npy"), np.random.default_rng(1).standard_normal((1, 3, 30, 30), np.float32))
        time.sleep(0.1)  # files that have just been written are not kept

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return str(Path(self.folder.name) / name)

    def start(self, *words, **environment):
        settings = {key: value for key, value in os.environ.items() if key != "FERRY_CACHE_DISABLE"}
        settings |= {"XDG_CACHE_HOME": self.path("cache"), **environment}
        return subprocess.Popen([FERRY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings)

    def ferry(self, *words, **environment):
        process = self.start(*words, **environment)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        return out

    def compiled(self, name, **environment):
        self.ferry("compile", self.path("net.onnx"), "-o", self.path(name), **environment)
        return Path(self.path(name)).read_bytes()

    def kept(self):
        return sorted(Path(self.path("cache")).glob("ferry/modules/*"))

    def test_the_second_compilation_takes_the_module_from_the_cache(self):
        first = self.compiled("1.ferry")
        [file] = self.kept()
        hour_ago = time.time() - 3600
        os.utime(file, (hour_ago, hour_ago))
        self.assertEqual(self.compiled("2.ferry"), first)
        self.assertEqual(self.kept(), [file])
        self.assertGreater(file.stat().st_mtime, hour_ago + 3000)  # its use was noted
        for _ in range(2):
            self.ferry("run", self.path("net.onnx"), "--arg", f"x=@{self.path('x.npy')}", "--out",
                       f"{self.model.graph.output[0].name}=@{self.path('y.npy')}")
        kept = self.kept()
        os.utime(file, (hour_ago, hour_ago))
        self.assertEqual(self.compiled("3.ferry", FERRY_CACHE_DISABLE="1"), first)
        self.assertLess(file.stat().st_mtime, hour_ago + 3000)
        self.assertEqual(self.kept(), kept)

    def test_a_disabled_cache_and_an_unusable_folder_keep_nothing(self):
        disabled = self.compiled("1.ferry", FERRY_CACHE_DISABLE="1")
        self.assertEqual(self.kept(), [])
        Path(self.path("cache")).write_text("a file")
        self.assertEqual(self.compiled("2.ferry"), disabled)

    def test_a_network_that_has_just_been_written_can_be_compared_by_the_gate(self):
        Path(self.path("suite.toml")).write_text("[cases.net]\nkernel = 'net.onnx'\nsizes = 'batch=1'\n")
        for verdict in ["first", "unchanged"]:
            onnx.save(self.model, self.path("net.onnx"))
            report = json.loads(self.ferry("gate", self.path("suite.toml"), "--store", self.path("store"), "--json"))
            self.assertEqual([case["verdict"] for case in report["cases"]], [verdict], report["cases"][0]["reason"])

    def test_damaged_files_are_replaced(self):
        first = self.compiled("1.ferry")
        [file] = self.kept()
        intact = file.read_bytes()
        for damaged in [b"", intact[:-1], intact[:100], intact[:200] + b"x" + intact[201:]]:
            file.write_bytes(damaged)
            self.assertEqual(self.compiled("2.ferry"), first)
            self.assertEqual(file.read_bytes(), intact)

    def test_processes_share_one_folder(self):
        expected = self.compiled("0.ferry", FERRY_CACHE_DISABLE="1")
        for _ in range(2):
            running = [self.start("compile", self.path("net.onnx"), "-o", self.path(f"{i}.ferry")) for i in range(4)]
            for i, process in enumerate(running):
                _, err = process.communicate()
                self.assertEqual(process.returncode, 0, err)
                self.assertEqual(Path(self.path(f"{i}.ferry")).read_bytes(), expected)
            self.assertEqual([path.suffix for path in self.kept()], [".ferry"])

    def test_a_compiled_file_describes_its_steps(self):
        self.compiled("net.ferry")
        names = [node.name for node in self.model.graph.node]
        function = json.loads(self.ferry("inspect", self.path("net.ferry"), "--json"))["functions"][0]
        described = function["descriptions"]
        self.assertEqual(len(described), len(function["steps"]))
        self.assertTrue(described[0]["node"].startswith(names[0]))
        first = f"{described[0]['node']} f32[{','.join(described[0]['shape'])}]"
        self.assertIn(f"{first}: call ", self.ferry("inspect", self.path("net.ferry")))
        report = json.loads(self.ferry("run", self.path("net.ferry"), "--arg", f"x=@{self.path('x.npy')}", "--json"))
        self.assertEqual([step["node"] for step in report["steps"]], [one["node"] for one in described])
        for step in report["steps"]:
            self.assertEqual(step["shape"][0], 1, step)
            self.assertGreater(step["bytes"], 4 * np.prod(step["shape"]), step)
        # Two operations for each of the 27 products of a pixel of the first layer, and some for bias and activation.
        self.assertAlmostEqual(report["steps"][0]["flops"] / np.prod(report["steps"][0]["shape"]), 2 * 27, delta=2)

    def test_the_table_of_steps_has_their_speed_and_traffic(self):
        lines = self.ferry("bench", self.path("net.onnx"), "--size", "batch=1", "--repeat", "1").splitlines()
        header = next(line for line in lines if line.split()[:2] == ["node", "kernel"])
        for column in ("result", "median", "share", "speed", "of peak", "traffic", "rate", "of copy"):
            self.assertIn(column, header)
        self.assertNotIn("grid", header)
        first = lines[lines.index(header) + 1]
        self.assertRegex(first, r"Conv\S* +conv_relu_0 +f32\[1,\d+,\d+,\d+\] .*FLOP/s +[\d.]+% .*B/s +[\d.]+%")


if __name__ == "__main__":
    unittest.main()
