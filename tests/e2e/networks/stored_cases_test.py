"""stored_cases_test.py RUN_NETWORKS: networks that ONNX's Python package stores compute what it stores beside them.

This runs the small ones, stored_cases_long_test.py the nine large ones.
"""
import sys
import tempfile
import unittest
from pathlib import Path

from node_cases import difference, save
from runner import Runner
from stored_cases import small_cases

RUN_NETWORKS = sys.argv.pop(1)


class StoredCasesTest(unittest.TestCase):
    def run_cases(self, cases):
        """Returns the names of the cases that pass, that ferry refuses, and that have no tensors it knows."""
        runner = Runner(RUN_NETWORKS)
        self.addCleanup(runner.close)
        passed, refused, skipped = [], [], []
        with tempfile.TemporaryDirectory() as root:
            for case in cases:
                folder = Path(root) / case.name
                if save(case, folder):
                    skipped.append(case.name)
                    continue
                kind, text = runner.run_or_bind(folder)
                with self.subTest(case.name):
                    self.assertIn(kind, ("fine", "refused"), text)
                    if kind == "refused":
                        self.assertIn("ferry does not import this operator", text)
                        refused.append(case.name)
                        continue
                    self.assertIsNone(difference(case, folder))
                    passed.append(case.name)
        return passed, refused, skipped

    def test_layers_of_pytorch(self):
        for family, number in (("pytorch-converted", 82), ("pytorch-operator", 35)):
            passed, _, _ = self.run_cases(small_cases(family))
            self.assertEqual(len(passed), number)

    def test_shapes_that_are_computed(self):
        passed, refused, skipped = self.run_cases(small_cases("simple"))
        self.assertGreaterEqual(len(passed), 7)
        # Training, sequences, and strings.
        self.assertTrue(all("gradient" in name or "sequence" in name for name in refused), refused)
        self.assertTrue(all("strnorm" in name for name in skipped), skipped)


if __name__ == "__main__":
    unittest.main()
