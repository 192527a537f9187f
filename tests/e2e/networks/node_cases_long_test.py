"""node_cases_long_test.py RUN_NETWORKS FERRY [--update]: ONNX's own tests of single operators, compiled and run.

node_cases_test.py compares the definitions of the operators; this one what kernels compute: all cases on this machine, and a
tenth of them in the emulator of each other architecture and as exported libraries. Cases that ferry does not import are left to
that test. --update writes how exact and how fast the kernels of this machine are into docs/onnx.md.
"""
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np


sys.path.insert(0, str(Path(__file__).parents[1] / "export"))
import exported
import onnx_page
from exported import Exported, aligned
from kernel_figures import Figures
from node_case_checks import NodeCaseChecks
from node_cases import all_cases, arrays_of, sample, save
from runner import Runner

UPDATES = "--update" in sys.argv and not sys.argv.remove("--update")
exported.FERRY = sys.argv.pop(2)
RUN_NETWORKS = sys.argv.pop(1)
# The numbers of cases that pass; they only grow.
AT_LEAST = {"x86_64": 1568, "aarch64": 157, "armv7": 157, "riscv64": 156, "exported": 132}


def run_exported(case, folder):
    """Calls a network as a library in this process, and writes its outputs."""
    library = Exported(folder / "net.onnx", "net")
    inputs, outputs = (list(map(np.asarray, arrays_of(values))) for values in case.data_sets[0])
    given = [aligned(np.ascontiguousarray(value)) for value in inputs]
    results = [aligned(np.zeros_like(np.ascontiguousarray(value))) for value in outputs]
    instance = library.make()
    if isinstance(instance, int):
        return library.message(instance)
    code = library.call("run", instance, *given, *results)
    if code:
        return library.message(code)
    for number, (result, value) in enumerate(zip(results, outputs)):
        np.save(folder / f"out{number}.npy", result.reshape(value.shape))
    return None


class NodeCasesLongTest(NodeCaseChecks):
    @classmethod
    def setUpClass(cls):
        cls.cases = all_cases()

    def check_arch(self, arch, cases):
        self.check_kernels(arch, cases, AT_LEAST[arch], RUN_NETWORKS, arch)

    def test_kernels_compute_what_onnx_defines(self):
        self.check_arch("x86_64", self.cases)

    @unittest.skipUnless(UPDATES, "measured with --update alone")
    def test_figures_of_kernels(self):
        figures = Figures(self.cases)
        runner = Runner(RUN_NETWORKS, "x86_64")
        self.addCleanup(runner.close)
        with tempfile.TemporaryDirectory() as root:
            for case in self.cases:
                folder = Path(root) / case.name
                if save(case, folder):
                    continue
                for words in (["once", "time"], ["once", "time", "bind"]):
                    kind, text = runner.run(folder, *words)
                    if kind == "fine":
                        figures.add(case, folder, int(text))
                        break
                shutil.rmtree(folder)
        onnx_page.write_kernels(figures.text())

    def test_kernels_of_aarch64_compute_what_onnx_defines(self):
        self.check_arch("aarch64", sample(self.cases))

    def test_kernels_of_armv7_compute_what_onnx_defines(self):
        self.check_arch("armv7", sample(self.cases))

    def test_kernels_of_riscv64_compute_what_onnx_defines(self):
        self.check_arch("riscv64", sample(self.cases))

    def test_exported_libraries_compute_what_onnx_defines(self):
        def run(case, folder):
            try:
                message = run_exported(case, folder)
            except AssertionError as error:
                # A mistake in the file, as docs/exit_codes.md has it: what ferry does not import.
                self.assertRegex(str(error), r"exit code 2\n(.*\n)*.*(does not import|expected|not support)")
                return False
            self.assertIsNone(message)
            return True

        self.check("exported", sample(self.cases), run, AT_LEAST["exported"])


if __name__ == "__main__":
    unittest.main()
