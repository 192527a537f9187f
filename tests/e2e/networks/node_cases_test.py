"""node_cases_test.py EVALUATE: ONNX's own tests of single operators.

Each is a small network with inputs and the outputs that ONNX defines. EVALUATE imports them all and computes them with
the reference evaluator. Those that ferry does not import are counted by reason, so that none is lost unnoticed.
"""
import collections
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

EVALUATE = sys.argv.pop(1)
# The number of cases that pass; it only grows.
AT_LEAST = 848


def is_array(value):
    return isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "biuf" or str(
        getattr(value, "dtype", "")) == "bfloat16"


def save(case, folder):
    """Writes a case as EVALUATE reads it. Returns whether its inputs and outputs are tensors."""
    inputs, outputs = case.data_sets[0]
    if not all(is_array(value) for value in [*inputs, *outputs]):
        return False
    folder.mkdir()
    onnx.save(case.model, folder / "net.onnx")
    for number, value in enumerate(inputs):
        np.save(folder / f"in{number}.npy", np.asarray(value))
    return True


def load(path, dtype):
    values = np.load(path)
    return values.view(dtype) if values.dtype.kind == "V" else values


def difference(case, folder):
    """Returns what differs between an output and what is expected, or nothing."""
    for number, expected in enumerate(case.data_sets[0][1]):
        expected = np.asarray(expected)
        got = load(folder / f"out{number}.npy", expected.dtype)
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
        rtol = 1e-2 if expected.dtype == ml_dtypes.bfloat16 else 1e-3
        a, b = (value.astype(np.float64) if value.dtype.kind not in "iub" else value for value in (got, expected))
        if not np.allclose(a, b, rtol=max(case.rtol, rtol), atol=max(case.atol, 1e-6), equal_nan=True):
            return f"{a.ravel()[:4]} instead of {b.ravel()[:4]}"
    return None


class NodeCasesTest(unittest.TestCase):
    def test_every_operator_that_is_imported_computes_what_onnx_defines(self):
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if case.model is not None and case.data_sets]
        passed, reasons = 0, collections.Counter()
        with tempfile.TemporaryDirectory() as root:
            saved = [case for case in cases if save(case, Path(root) / case.name)]
            subprocess.run([EVALUATE, root], check=True)
            for case in saved:
                folder = Path(root) / case.name
                if (folder / "refusal.txt").exists():
                    line = (folder / "refusal.txt").read_text().splitlines()[0]
                    reasons[line.split("): ")[-1]] += 1
                    continue
                with self.subTest(case.name):
                    self.assertIsNone(difference(case, folder))
                    passed += 1
        print(f"{passed} of {len(saved)} cases pass; of the others")
        for reason, count in reasons.most_common():
            print(f"{count:6} {reason[:150]}")
        self.assertGreaterEqual(passed, AT_LEAST)


if __name__ == "__main__":
    unittest.main()
