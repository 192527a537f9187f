"""threads_test.py FERRY RPC_SERVER: networks compute the same bits with any number of threads."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import models
import numpy as np
import onnx
from server import Server

# Large enough for parallel loops to be divided.
NETWORKS = {
    "resnet50_stage": (lambda: models.resnet50_stage(28), (1, 64, 28, 28)),
    "squeezenet": (lambda: models.squeezenet(120, 10), (1, 3, 120, 120)),
    "encoder": (lambda: models.encoder(length=64), (1, 64, 96)),
}

FERRY, RPC_SERVER = (sys.argv.pop(1) for _ in range(2))


class ThreadsTest(unittest.TestCase):
    def test_networks_compute_the_same_bits_with_any_number_of_threads(self):
        for name, (make, shape) in NETWORKS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                model = make()
                output = model.graph.output[0].name
                onnx.save(model, f"{folder}/net.onnx")
                np.save(f"{folder}/x.npy", np.random.default_rng(3).standard_normal(shape, np.float32))
                # One module: schedules depend on the number of threads.
                subprocess.run([FERRY, "compile", f"{folder}/net.onnx", "-o", f"{folder}/net.ferry"], check=True,
                               capture_output=True)
                results = []
                for threads in ("1", "2", "5"):
                    Path(f"{folder}/{threads}").mkdir()
                    with Server(RPC_SERVER, f"{folder}/{threads}", "--threads", threads) as server:
                        subprocess.run([FERRY, "run", f"{folder}/net.ferry", "--arg", f"x=@{folder}/x.npy", "--out",
                                        f"{output}=@{folder}/y.npy", "--remote", server.address], check=True,
                                       capture_output=True)
                    results.append(np.load(f"{folder}/y.npy").view(np.uint32))
                for result in results[1:]:
                    np.testing.assert_array_equal(result, results[0])


if __name__ == "__main__":
    unittest.main()
