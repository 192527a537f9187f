"""upload_test.py FERRY RPC_SERVER: a network that was compiled again with the same weights sends only its new code."""
import json
import subprocess
import sys
import tempfile
import unittest

import models
import onnx
from counting_link import CountingLink
from server import Server

FERRY, RPC_SERVER = (sys.argv.pop(1) for _ in range(2))


def ferry(*words):
    done = subprocess.run([FERRY, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


class UploadTest(unittest.TestCase):
    def test_a_second_upload_after_a_change_of_schedule_sends_no_weights(self):
        with tempfile.TemporaryDirectory() as folder:
            network = f"{folder}/resnet18.onnx"
            onnx.save(models.resnet18(), network)
            weights = sum(len(weight.raw_data) for weight in onnx.load(network).graph.initializer)
            self.assertGreater(weights, 40_000_000)
            modules = []
            for number, options in enumerate((["--winograd", "off"], [])):
                modules.append(f"{folder}/{number}.ferry")
                ferry("compile", network, "--fix", "batch=1", *options, "-o", modules[-1])
            described = [json.loads(ferry("inspect", module, "--json")) for module in modules]
            self.assertNotEqual(described[0]["hash"], described[1]["hash"])
            self.assertEqual(described[0]["blobs"], described[1]["blobs"])
            sent = []
            with Server(RPC_SERVER, folder) as server:
                for module in modules:
                    with CountingLink(server.address) as link:
                        # Inputs are filled by the server, so nothing else of this size is sent.
                        ferry("bench", module, "--remote", link.address, "--no-peak", "--max-repeat", "1")
                        sent.append(link.sent)
            self.assertGreater(sent[0], weights)
            # Code, plan, schedules and names of nodes, and the messages of a measurement.
            self.assertLess(sent[1], described[1]["bytes"] + 10_000)
            self.assertLess(sent[1], 200_000)


if __name__ == "__main__":
    unittest.main()
