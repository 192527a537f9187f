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
from pathlib import Path

import onnx_page
from node_cases import DIFFERENT, DIFFERENT_REASON, all_cases, difference, operators_by_case, save

UPDATES = "--update" in sys.argv and not sys.argv.remove("--update")
EVALUATE = sys.argv.pop(1)
# The number of cases that pass; it only grows.
AT_LEAST = 1590

Outcome = collections.namedtuple("Outcome", "operator kind reason")


def refusal_reason(text):
    """Returns the first refusal without the names of node and file."""
    line = text.splitlines()[0]
    line = re.sub(r"^'[^']*': ", "", line)
    found = re.match(r"node '.*?'(?: and \d+ more)? \((\S+), opset \d+\): (.*)", line)
    if not found:
        return line
    operator, reason = found.groups()
    reason = reason.partition("; ")[0]  # without the advice
    return f"ferry does not import {operator}" if reason == "ferry does not import this operator" else reason


def run(cases):
    """Returns an Outcome for each case by its name, what differs, and what differs by more than it may."""
    outcomes, differences, wrong = {}, {}, {}
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
            outcomes[case.name] = Outcome(operator, "differs", DIFFERENT_REASON) if what else Outcome(operator, "passed", "")
            if what:
                differences[case.name] = what
                wrong[case.name] = difference(case, folder, DIFFERENT.get(case.name, 0))
    return outcomes, differences, wrong


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
        f"Of {run_cases} cases with tensors of element types that ferry has, {total['passed']} pass, {total['differs']} differ and "
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
        cls.outcomes, cls.differences, cls.wrong = run(all_cases())
        if UPDATES:
            onnx_page.write_definitions(page_of(cls.outcomes))

    def test_every_operator_that_is_imported_computes_what_onnx_defines(self):
        for name, what in self.wrong.items():
            with self.subTest(name):
                self.assertIsNone(what)
        self.assertEqual(set(self.differences), set(DIFFERENT))

    def test_the_number_of_cases_that_pass_only_grows(self):
        passed = sum(outcome.kind == "passed" for outcome in self.outcomes.values())
        print(f"{passed} of {sum(outcome.kind != 'skipped' for outcome in self.outcomes.values())} cases pass")
        self.assertGreaterEqual(passed, AT_LEAST)

    def test_the_page_says_what_became_of_each_operator(self):
        self.assertEqual(onnx_page.definitions(), page_of(self.outcomes), "run this test with --update")


if __name__ == "__main__":
    unittest.main()
