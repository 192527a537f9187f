"""A base class of the tests that run ONNX's own tests of single operators."""
import shutil
import tempfile
import unittest
from pathlib import Path

from node_cases import DIFFERENT, difference, save
from runner import Runner


class NodeCaseChecks(unittest.TestCase):
    def check(self, name, cases, run, at_least):
        """Expects at least that many cases to pass. `run` writes a case's outputs, or returns False for what ferry does not
        import."""
        passed = 0
        with tempfile.TemporaryDirectory() as root:
            for case in cases:
                folder = Path(root) / case.name
                if save(case, folder):
                    continue
                with self.subTest(case.name):
                    if not run(case, folder):
                        continue
                    what = difference(case, folder)
                    self.assertIsNone(what and difference(case, folder, DIFFERENT.get(case.name, 0)))
                    passed += what is None
                shutil.rmtree(folder)
        print(f"{passed} cases pass, {name}")
        self.assertGreaterEqual(passed, at_least)

    def check_kernels(self, name, cases, at_least, program, *words):
        """Runs the cases with the program run_networks."""
        runner = Runner(program, *words)
        self.addCleanup(runner.close)

        def run(case, folder):
            kind, text = runner.run_or_bind(folder)
            if "expected qemu 8 or newer" in text:
                return False
            self.assertIn(kind, ("fine", "refused"), text)
            return kind == "fine"

        self.check(name, cases, run, at_least)
