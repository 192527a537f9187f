"""thorough_check_test.py FERRY: networks pass ferry's own judge. Each kernel of theirs is right with adversarial inputs and with other
sizes as well."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import models
import onnx

FERRY = sys.argv.pop(1)
# Residual convolutions, some by Winograd's algorithm; depthwise ones; attention with layer norms, erf and tanh.
NETWORKS = {
    "resnet50_stage": (lambda: models.resnet50_stage(5), ["batch=1"]),
    "mobilenet_v2": (lambda: models.mobilenet_v2(33, 10), ["batch=1"]),
    "encoder": (lambda: models.encoder(), ["batch=1", "length=7"]),
}


def mistakes(where, checks):
    """What of the checks of a call is wrong, as texts."""
    found = []
    for check in checks:
        if check["wrong"] != 0 or check["unequal"] != 0 or check["compared"] == 0:
            found.append(f"{where}: {check['output']}: {check['wrong']} of {check['compared']} wrong; {check['first_wrong']}")
    return found


class ThoroughChecks(unittest.TestCase):
    def check(self, name):
        network, sizes = NETWORKS[name]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{name}.onnx"
            onnx.save(network(), file)
            words = [FERRY, "run", str(file), "--check", "--thorough", "--json"]
            for size in sizes:
                words += ["--size", size]
            done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "FERRY_PYTHON": sys.executable})
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
        report = json.loads(done.stdout)
        found = mistakes("random inputs", report["check"])
        elements = sum(check["compared"] for check in report["check"])
        for probe in report["probes"]:
            where = f"{probe['inputs']} {probe['sizes']}"
            self.assertFalse(probe["failure"], where)
            found += mistakes(where, probe["check"])
            elements += sum(check["compared"] for check in probe["check"])
        self.assertEqual(found, [])
        inputs = {probe["inputs"] for probe in report["probes"]}
        for kind in ("subnormal", "ends of their type's range", "NaN", "a single 1"):
            self.assertTrue(any(kind in each for each in inputs), inputs)
        self.assertGreaterEqual(sum(probe["sizes"] != "" for probe in report["probes"]), 3)
        print(f"{name}: {len(report['check'])} kernels, {len(report['probes'])} probes, {elements:,} elements compared")

    def test_residual_convolutions_are_right_with_all_inputs_and_sizes(self):
        self.check("resnet50_stage")

    def test_depthwise_convolutions_are_right_with_all_inputs_and_sizes(self):
        self.check("mobilenet_v2")

    def test_attention_is_right_with_all_inputs_and_sizes(self):
        self.check("encoder")


if __name__ == "__main__":
    unittest.main()
