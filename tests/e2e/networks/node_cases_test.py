"""node_cases_test.py EVALUATE [--update]: ONNX's own tests of single operators.

Each is a small network with inputs and the outputs that ONNX defines. EVALUATE imports them all and computes them with
the reference evaluator. docs/onnx.md says what became of each operator's cases, and is compared with this run; --update
writes it.
"""
import collections
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

UPDATES = "--update" in sys.argv and not sys.argv.remove("--update")
EVALUATE = sys.argv.pop(1)
PAGE = Path(__file__).parents[3] / "docs" / "onnx.md"
# The number of cases that pass; it only grows.
AT_LEAST = 1508
# Cases whose results are nearer to the exact ones than what ONNX expects, which rounds each step to the narrow type, but
# not within the tolerance of that. They count as different.
DIFFERENT = {"test_attention_4d_causal_bf16_expanded", "test_attention_4d_causal_fp16_expanded"}

ARRAY_TYPES = {
    onnx.TensorProto.DataType.Value(name)
    for name in "FLOAT DOUBLE FLOAT16 BFLOAT16 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL".split()
}
Outcome = collections.namedtuple("Outcome", "operator kind reason")


def is_array(value):
    return isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "biuf" or str(
        getattr(value, "dtype", "")) == "bfloat16"


def arrays_of(values):
    """Returns the values with tensors of ONNX as arrays, where NumPy has their type."""
    return [
        onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) and value.data_type in ARRAY_TYPES else value
        for value in values
    ]


def kind_of(value):
    """Says what a value is that is no tensor which NumPy can save."""
    if isinstance(value, onnx.TensorProto):
        return onnx.TensorProto.DataType.Name(value.data_type).lower()
    if value is None or isinstance(value, list):
        return "a sequence or optional value"
    return "strings" if value.dtype.kind in "OSU" else str(value.dtype)


def save(case, folder):
    """Writes a case as EVALUATE reads it. Returns what its inputs or outputs are, if some are no tensors."""
    inputs, outputs = (arrays_of(values) for values in case.data_sets[0])
    others = {kind_of(value) for value in [*inputs, *outputs] if not is_array(value)}
    if others:
        return ", ".join(sorted(others))
    folder.mkdir()
    onnx.save(case.model, folder / "net.onnx")
    for number, value in enumerate(inputs):
        np.save(folder / f"in{number}.npy", np.asarray(value))
    return None


def load(path, dtype):
    values = np.load(path)
    return values.view(dtype) if values.dtype.kind == "V" else values


def difference(case, folder):
    """Returns what differs between an output and what is expected, or nothing."""
    for number, expected in enumerate(arrays_of(case.data_sets[0][1])):
        expected = np.asarray(expected)
        got = load(folder / f"out{number}.npy", expected.dtype)
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
        rtol = 1e-2 if expected.dtype == ml_dtypes.bfloat16 else 1e-3
        a, b = (value.astype(np.float64) if value.dtype.kind not in "iub" else value for value in (got, expected))
        if not np.allclose(a, b, rtol=max(case.rtol, rtol), atol=max(case.atol, 1e-6), equal_nan=True):
            return f"{a.ravel()[:4]} instead of {b.ravel()[:4]}"
    return None


def operators_by_case(cases):
    """Returns the operator that each case is about. An expanded one has the nodes that define it instead."""
    def own(case):
        nodes = [node for node in case.model.graph.node if node.op_type != "Constant"] or case.model.graph.node
        return ".".join(filter(None, [nodes[0].domain, nodes[0].op_type]))

    operators = {case.name: own(case) for case in cases}
    for name in operators:
        plain = re.sub(r"_expanded(_ver\d+)?$", "", name)
        operators[name] = operators.get(plain, operators[name])
    return operators


def refusal_reason(text):
    """Returns the first refusal without the names of node and file."""
    line = text.splitlines()[0]
    line = re.sub(r"^'[^']*': ", "", line)
    found = re.match(r"node '.*?'(?: and \d+ more)? \((\S+), opset \d+\): (.*)", line)
    if not found:
        return line
    operator, reason = found.groups()
    return f"ferry does not import {operator}" if reason == "ferry does not import this operator" else reason


def run(cases):
    """Returns an Outcome for each case by its name, and what differs."""
    outcomes, differences = {}, {}
    operators = operators_by_case(cases)
    with tempfile.TemporaryDirectory() as root:
        for case in cases:
            others = save(case, Path(root) / case.name)
            if others:
                outcomes[case.name] = Outcome(operators[case.name], "skipped", others)
        subprocess.run([EVALUATE, root], check=True)
        for case in cases:
            folder, operator = Path(root) / case.name, operators[case.name]
            if case.name in outcomes:
                continue
            if (folder / "refusal.txt").exists():
                reason = refusal_reason((folder / "refusal.txt").read_text())
                outcomes[case.name] = Outcome(operator, "refused", reason)
                continue
            what = difference(case, folder)
            outcomes[case.name] = Outcome(operator, "differs" if what else "passed", "")
            if what:
                differences[case.name] = what
    return outcomes, differences


def page_of(outcomes):
    kinds = ["passed", "differs", "refused", "skipped"]
    total = collections.Counter(outcome.kind for outcome in outcomes.values())
    run_cases = len(outcomes) - total["skipped"]
    lines = [
        "# ONNX's own tests", "",
        *textwrap.wrap(
            "The Python package of ONNX contains tests of single operators: small networks, with inputs and the outputs "
            "that ONNX defines. `node_cases_test.py` imports each, computes it with the reference evaluator, and writes "
            "this page (`--update`); every run of the tests compares the page with what it finds. A case whose shapes "
            "depend on the contents of inputs is imported with these inputs bound. Expanded cases, in which an operator is "
            "replaced by the nodes that define it, count for that operator.", 118), "",
        f"Of {run_cases} cases with tensors of types that NumPy has, {total['passed']} pass, {total['differs']} differ and "
        f"{total['refused']} are",
        f"refused. {total['skipped']} more are skipped, because their inputs or outputs are sequences, strings or of other "
        "types.", "",
        "| operator | passed | differ | refused | skipped | why |", "| --- | --- | --- | --- | --- | --- |"]
    by_operator = collections.defaultdict(list)
    for outcome in outcomes.values():
        by_operator[outcome.operator].append(outcome)
    for operator in sorted(by_operator):
        counts = collections.Counter(outcome.kind for outcome in by_operator[operator])
        reasons = collections.Counter(outcome.reason for outcome in by_operator[operator] if outcome.reason)
        why = "; ".join(reason[:160] for reason, _ in sorted(reasons.items(), key=lambda one: (-one[1], one[0]))[:3])
        cells = [str(counts[kind] or "") for kind in kinds]
        lines.append(f"| {operator} | {' | '.join(cells)} | {why.replace('|', ' ')} |")
    return "\n".join(lines) + "\n"


class NodeCasesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if case.model is not None and case.data_sets]
        cls.outcomes, cls.differences = run(cases)
        if UPDATES:
            PAGE.write_text(page_of(cls.outcomes))

    def test_every_operator_that_is_imported_computes_what_onnx_defines(self):
        for name, what in self.differences.items():
            with self.subTest(name):
                self.assertIn(name, DIFFERENT, what)
        self.assertEqual(set(self.differences), DIFFERENT)

    def test_the_number_of_cases_that_pass_only_grows(self):
        passed = sum(outcome.kind == "passed" for outcome in self.outcomes.values())
        print(f"{passed} of {sum(outcome.kind != 'skipped' for outcome in self.outcomes.values())} cases pass")
        self.assertGreaterEqual(passed, AT_LEAST)

    def test_the_page_says_what_became_of_each_operator(self):
        self.assertEqual(PAGE.read_text(), page_of(self.outcomes), "run this test with --update")


if __name__ == "__main__":
    unittest.main()
