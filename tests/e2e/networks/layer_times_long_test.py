"""layer_times_long_test.py FERRY: no convolution of ResNet-18 takes much longer than it should on this machine.

The budgets are milliseconds on one core that computes 125 G multiply-adds a second. They become those of this machine by
what the same run measures as its peak. The max pool and the product at the end have none, since memory limits them.
"""
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
# What a layer may take, as a multiple of its budget; most runs, of which the fastest time of each layer counts.
MOST, RUNS = 1.25, 8
PEAK = 250e9
# In the order of the network: the first convolution, then four stages. The 7x7 layers read 17 MB of weights each.
BUDGETS = [1.00,
           0.42, 0.42, 0.42, 0.42,
           0.50, 0.42, 0.07, 0.42, 0.42,
           0.52, 0.59, 0.07, 0.59, 0.59,
           0.60, 0.97, 0.07, 0.97, 0.97]


def number_of(step):
    """Returns the number of the convolution that a step's node begins with, or nothing: 2 for "Conv_2+Relu_3"."""
    first = step.split("+")[0].split("/")[-1]
    return int(first.removeprefix("Conv_")) if first.startswith("Conv_") else None


class LayerTimesTest(unittest.TestCase):
    def bench(self, file):
        core = str(max(os.sched_getaffinity(0)))
        done = subprocess.run(
            ["taskset", "-c", core, FERRY, "bench", str(file), "--size", "batch=1", "--number", "1", "--min-repeat-ms", "0",
             "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["results"][0]

    @unittest.skipUnless("avx512f" in Path("/proc/cpuinfo").read_text(), "the budgets are for AVX-512")
    def test_convolutions_take_at_most_a_quarter_more_than_their_budgets(self):
        times, peak = {}, 0
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "resnet18.onnx"
            onnx.save(models.resnet18(224, 1000), file)
            for _ in range(RUNS):
                result = self.bench(file)
                peak = max(peak, result["peak_flops_per_second"])
                for step in result["steps"]:
                    number = number_of(step["node"])
                    if number is not None:
                        times[number] = min([times.get(number, 1), *step["seconds"]])
                shares = [times[number] * 1e3 * peak / PEAK / budget for number, budget in zip(sorted(times), BUDGETS)]
                if max(shares) <= MOST:
                    break
        self.assertEqual(len(times), len(BUDGETS))
        for number, share in zip(sorted(times), shares):
            print(f"Conv_{number}: {times[number] * 1e3:.3f} ms, {share:.2f} of its budget")
        self.assertLessEqual(max(shares), MOST)


if __name__ == "__main__":
    unittest.main()
