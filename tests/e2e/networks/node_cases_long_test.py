"""node_cases_long_test.py FERRY: ONNX's own tests of single operators, compiled and run on this machine.

node_cases_test.py compares the definitions of the operators; this one what kernels compute. Cases that ferry does not import
are left to that test.
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from node_cases import DIFFERENT, all_cases, arrays_of, difference, save

FERRY = sys.argv.pop(1)
# The number of cases that pass; it only grows.
AT_LEAST = 1565


def run(case, folder, binds):
    """Runs a case, with inputs that may decide shapes as arguments or bound. Returns what ferry said, or nothing."""
    words = [FERRY, "run", str(folder / "net.onnx"), "-q"]
    values = arrays_of(case.data_sets[0][0])
    for number, (value, info) in enumerate(zip(values, case.model.graph.input)):
        is_first = number == 0 and value.dtype.kind in "fV" and value.size != 1
        words += ["--bind" if binds and not is_first else "--arg", f"{info.name}=@{folder}/in{number}.npy"]
    for number, info in enumerate(case.model.graph.output):
        words += ["--out", f"{info.name}=@{folder}/out{number}.npy"]
    ran = subprocess.run(words, capture_output=True, text=True)
    return None if ran.returncode == 0 else ran.stderr


class NodeCasesLongTest(unittest.TestCase):
    def test_kernels_compute_what_onnx_defines(self):
        passed = 0
        with tempfile.TemporaryDirectory() as root:
            for case in all_cases():
                folder = Path(root) / case.name
                if save(case, folder):
                    continue
                if run(case, folder, binds=False) and run(case, folder, binds=True):
                    continue
                what = difference(case, folder)
                with self.subTest(case.name):
                    self.assertIsNone(what and difference(case, folder, DIFFERENT.get(case.name, 0)))
                    passed += what is None
        print(f"{passed} cases pass")
        self.assertGreaterEqual(passed, AT_LEAST)


if __name__ == "__main__":
    unittest.main()
