"""cache_test.py FERRY: networks that were compiled before come from the cache, and their steps keep their names."""
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


class CacheTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = models.squeezenet(30, 10)
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

    def test_a_compiled_file_names_the_nodes_of_its_steps(self):
        self.compiled("net.ferry")
        names = [node.name for node in self.model.graph.node]
        function = json.loads(self.ferry("inspect", self.path("net.ferry"), "--json"))["functions"][0]
        self.assertEqual(len(function["nodes"]), len(function["steps"]))
        self.assertTrue(function["nodes"][0].startswith(names[0]))
        self.assertIn(f"{function['nodes'][0]}: call ", self.ferry("inspect", self.path("net.ferry")))
        report = json.loads(self.ferry("run", self.path("net.ferry"), "--arg", f"x=@{self.path('x.npy')}", "--json"))
        self.assertEqual([step["node"] for step in report["steps"]], function["nodes"])


if __name__ == "__main__":
    unittest.main()
