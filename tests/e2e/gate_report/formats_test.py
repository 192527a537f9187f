#!/usr/bin/env python3
"""Reads the gate's reports in all formats with readers that share no code with ferry.

    formats_test.py GATE_REPORT_WRITER
"""
import copy
import html
import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from schema import Schema

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support/browser"))
from page_reader import Page, expect_standalone  # noqa: E402: its folder is known only now

NAMES = ["empty", "varied", "hostile", "extreme", "failure", "long"]
FAILURES = {"slower", "wrong", "over_limit"}
ERRORS = {"failed", "infrastructure", "interrupted", "cannot_tell"}

writer = None


def visible(text):
    """A name as the reports show it, by its escapes in JSON: control characters and the like become escapes."""
    hidden = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff"
                        "\ufff9-\ufffb\ufffe\uffff]")
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return hidden.sub(lambda m: named.get(m[0]) or "".join(f"\\x{b:02x}" for b in m[0].encode()), text)


class FormatsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="ferry-gate-") as folder:
            subprocess.run([writer, folder], check=True, timeout=60)
            cls.texts = {path.name: path.read_text(encoding="utf-8") for path in Path(folder).iterdir()}

        def refuse(word):
            raise ValueError(f"no JSON: {word}")

        cls.reports = {name: json.loads(cls.texts[name + ".json"], parse_constant=refuse) for name in NAMES}
        cls.schema = json.loads((ROOT / "docs/gate.schema.json").read_text(encoding="utf-8"))

    def each(self):
        for name in NAMES:
            with self.subTest(report=name):
                yield name, self.reports[name]

    def test_json_is_as_its_schema_says_and_the_schema_describes_every_field(self):
        for _, report in self.each():
            self.assertEqual(Schema(self.schema, strict=True).errors(report), [])

    def test_the_schema_finds_a_field_that_lacks_or_has_another_type(self):
        schema = Schema(self.schema)
        report = self.reports["varied"]
        slower = next(i for i, case in enumerate(report["cases"]) if case["name"] == "mm")
        for path in [[], ["cases", slower]] + [["cases", slower, name] for name in
                     ("change", "instructions", "baseline", "limits", "environment", "pairs", "course", "diff")]:
            place = report
            for step in path:
                place = place[step]
            for field in list(place):
                for replacement in [None, [["no"]]]:
                    broken = copy.deepcopy(report)
                    inner = broken
                    for step in path:
                        inner = inner[step]
                    if replacement is None:
                        del inner[field]
                    else:
                        inner[field] = replacement
                    self.assertNotEqual(schema.errors(broken), [], f"{path}, {field}, {replacement}")
        for field, value in [("exit_code", 6), ("schema", "ferry.gate/2"), ("counts", {"fast": 1})]:
            self.assertNotEqual(schema.errors({**report, field: value}), [], field)

    def test_json_counts_its_cases_and_says_null_for_what_is_no_number(self):
        for _, report in self.each():
            verdicts = [case["verdict"] for case in report["cases"]]
            self.assertEqual(report["counts"], {verdict: verdicts.count(verdict) for verdict in set(verdicts)})
            for case in report["cases"]:
                self.assertEqual(case["change"] is None, not case["pairs"]["layout"])
                self.assertEqual(len({len(column) for column in case["pairs"].values()}), 1)
        extreme = {case["name"]: case for case in self.reports["extreme"]["cases"]}
        self.assertIsNone(extreme["unbounded"]["change"]["high"])
        self.assertIsNotNone(extreme["unbounded"]["change"]["ratio"])
        self.assertIsNone(extreme["not numbers"]["pairs"]["log_ratio"][0])
        self.assertIsNone(extreme["zero instructions"]["instructions"]["ratio"])
        self.assertEqual(set(self.reports["varied"]["counts"]),
                         set(self.schema["$defs"]["verdict"]["enum"]))

    def test_junit_has_a_test_for_each_case_and_fails_what_the_gate_fails(self):
        for name, report in self.each():
            root = xml.etree.ElementTree.fromstring(self.texts[name + ".xml"])
            suite, = root
            tests = list(suite)
            if report["failure"] is not None:
                self.assertEqual(tests.pop(0).get("name"), "ferry gate")
            self.assertEqual({element.tag for element in root.iter()} - {"testsuites", "testsuite", "testcase", "failure",
                                                                        "error", "system-out"}, set())
            self.assertEqual(len(tests), len(report["cases"]))
            unknown = ERRORS - ({"cannot_tell"} if report["unknown"] == "pass" else set())
            for test, case in zip(tests, report["cases"]):
                board = " on " + case["board"] if case["board"] else ""
                self.assertLessEqual(set(test.attrib), {"classname", "name", "time"})
                if "\ufffd" not in case["name"] + case["board"]:  # JSON replaces what is not UTF-8
                    self.assertEqual(test.get("name").replace("\n", "\\n").replace("\t", "\\t"),
                                     visible(case["name"] + board))
                self.assertEqual(test.find("failure") is not None, case["verdict"] in FAILURES, case["verdict"])
                self.assertEqual(test.find("error") is not None, case["verdict"] in unknown, case["verdict"])
                self.assertIn(case["verdict"].replace("_", " "), test.find("system-out").text)
            self.assertEqual(int(suite.get("failures")), sum(case["verdict"] in FAILURES for case in report["cases"]))
            self.assertEqual(int(suite.get("errors")), sum(case["verdict"] in unknown for case in report["cases"]) +
                             (report["failure"] is not None))
        slower = next(test for test in xml.etree.ElementTree.fromstring(self.texts["varied.xml"]).iter("testcase")
                      if test.get("name") == "mm on rpi4")
        self.assertRegex(slower.find("failure").get("message"), r"^slower: \+5\.\d+% \(\+\d\.\d+% to \+\d\.\d+%\)$")
        self.assertIn("-  vmovups (%rsi,%rax,4), %ymm0\n", slower.find("system-out").text)

    def test_a_run_without_verdicts_says_why_in_every_format(self):
        report = self.reports["failure"]
        why = "expected '=' after <b>kernel</b>\n  kernel 'mm.tc'\n         ^"
        self.assertEqual((report["exit_code"], report["cases"]), (2, []))
        self.assertIn(why, report["failure"])
        test, = xml.etree.ElementTree.fromstring(self.texts["failure.xml"]).iter("testcase")
        self.assertIn("expected '=' after <b>kernel</b>", test.find("error").get("message"))
        self.assertIn(why, "".join(Page(self.texts["failure.html"]).texts))
        markdown = html.unescape(self.texts["failure.md"])
        self.assertTrue(markdown.startswith("### :x: No verdicts: the run failed\n"))
        self.assertIn("expected '=' after <b>kernel</b>", markdown)
        for name in NAMES[:4]:
            self.assertIsNone(self.reports[name]["failure"])

    def test_a_wrong_case_comes_with_its_inputs(self):
        inputs = "--size M=64,N=64 --arg A=f32[64,64]:random --seed 0"
        wrong = next(case for case in self.reports["varied"]["cases"] if case["name"] == "layer_norm")
        self.assertEqual(wrong["inputs"], inputs)
        self.assertIn(inputs, "".join(Page(self.texts["varied.html"]).texts))
        self.assertIn("inputs: " + inputs, self.texts["varied.xml"])
        self.assertIn("inputs: " + inputs, html.unescape(self.texts["varied.md"]))
        self.assertIn("inputs: " + inputs, re.sub(r"\s+", " ", self.texts["varied.txt"]))

    def test_columns_in_which_no_case_says_anything_are_left_out(self):
        self.assertNotIn("verdict ", self.texts["failure.txt"])
        for name, left_out in [("varied", set()), ("long", set())]:
            head = self.texts[name + ".txt"].splitlines()[0].split()
            self.assertEqual(head, ["verdict", "case", "board", "change", "baseline", "current", "pairs"])
        heads = [head.strip() for head in Page(self.texts["empty.html"]).heads]
        self.assertEqual(heads, [])

    def test_the_page_is_well_formed_needs_nothing_else_and_runs_nothing(self):
        style = "".join((ROOT / name).read_text(encoding="utf-8")
                        for name in ["host/text/base.css", "host/text/report.css"])
        self.assertIsNone(re.search("[&<>\"']", style), "a style sheet contains a character that HTML gives a meaning")
        for name, report in self.each():
            page = expect_standalone(self, self.texts[name + ".html"])
            self.assertEqual(page.style.strip(), style.strip())
            for number in range(len(report["cases"])):
                self.assertIn(f"case-{number + 1}", page.ids)

    def test_the_page_shows_hostile_names_as_texts(self):
        page = Page(self.texts["hostile.html"])
        text = "".join(page.texts)
        heads = {head.strip() for head in page.heads}
        for case in self.reports["hostile"]["cases"]:
            if "\ufffd" not in case["name"]:
                self.assertIn(visible(case["name"]).strip() or "(no name)", heads)
                self.assertIn("Warning: " + visible(case["name"]), text)
        self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufffe\uffff]",
                                    text))

    def test_the_page_of_a_history_is_well_formed_and_shows_hostile_names_as_texts(self):
        page = expect_standalone(self, self.texts["history.html"])
        text = re.sub(r"\s+", " ", "".join(page.texts))
        for part in ["<script>window.hacked=1</script>", "The level changed by +10.1%", "from here +10.1%",
                     "The latest 20 entries of", "1.00 ms", "instructions", "Time of each commit",
                     "Instructions of each commit"]:
            self.assertIn(part, text)

    def test_the_page_has_both_sides_limits_and_diffs(self):
        text = re.sub(r"\s+", " ", "".join(Page(self.texts["varied.html"]).texts))
        for part in ["What changed: Operators", "What changed: Schedule", "What changed: Loops", "What changed: Hot assembly", "-vectorize C j",
                     "5.00 KiB", "5.20 KiB", "320 bytes", "at least 50%", "31%", "exceeded", "cortex-a72",
                     "Linux 6.1.0 aarch64", "performance", "1048576", "3407872", "+225% Tolerance 2.0%",
                     "no board of 'rpi4' answered within 60 s (tried 3 times)",
                     "All intervals hold with 99% probability", "2026-03-01 08:40:36 UTC"]:
            self.assertIn(part, text)

    def test_markdown_has_tables_whose_names_are_harmless(self):
        code = re.compile(r"<code>((?:[A-Za-z0-9 ,\u0080-\U0010ffff-]|&#\d+;)*)</code>")
        words = re.compile(r"[A-Za-z0-9 .,:()+%|#\n_-]*")
        for name, report in self.each():
            text = self.texts[name + ".md"]
            self.assertLessEqual(len(text.encode()), 60_000)
            rest = re.sub("C(<br>C)+", "C", code.sub("C", text))
            rest = re.sub(r"\[details\]\(https://ci\.example/gate\.html\?run=7#case-\d+\)", "L", rest)
            rest = re.sub(r"\n<details><summary>(\d+ without change)</summary>\n", r"\n\1\n", rest)
            rest = rest.replace("\n</details>\n", "\n")
            self.assertTrue(words.fullmatch(rest), f"unexpected markup: {words.match(rest)[0][-80:]!r} goes on "
                                                   f"{rest[words.match(rest).end():][:80]!r}")
            rows = [line for line in rest.splitlines() if line.startswith("|")]
            self.assertEqual({line.count("|") for line in rows}, {6} if rows else set())
            shown = len([line for line in rows if not line.startswith(("| case |", "| --- "))])
            left_out = sum(map(int, re.findall(r"There is no room for (\d+) more", rest)))
            self.assertEqual(shown + left_out, len(report["cases"]))
            self.assertEqual(text.splitlines()[0][:4], "### ")

    def test_markdown_names_read_back_as_they_were(self):
        text = self.texts["hostile.md"]
        found = {html.unescape(name) for name in re.findall("<code>(.*?)</code>", text)}
        for case in self.reports["hostile"]["cases"]:
            name = visible(case["name"])
            if "\ufffd" not in name:
                self.assertIn(name if len(name) <= 120 else name[:120] + "...", found)

    def test_markdown_folds_what_did_not_change_and_links_cases(self):
        text = self.texts["long.md"]
        before, fold, after = text.partition("<details><summary>990 without change</summary>")
        self.assertTrue(fold)
        self.assertEqual(before.count(":x: slower"), 10)
        self.assertEqual(after.count(" slower"), 0)
        self.assertIn("[details](https://ci.example/gate.html?run=7#case-100)", before)
        self.assertIn(after.rstrip()[-10:], "</details>")
        self.assertNotIn("<details>", self.texts["varied.md"])

    def test_the_terminal_shows_no_control_characters_and_counts_what_it_leaves_out(self):
        for _, text in [(name, self.texts[name]) for name in self.texts if name.endswith(".txt")]:
            self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", text))
        self.assertIn("and 990 without news\n", self.texts["long.txt"])
        self.assertEqual(self.texts["long.txt"].count("slower "), 10)
        self.assertEqual(self.texts["empty.txt"], "Passed: no cases\n")
        for verdict in self.schema["$defs"]["verdict"]["enum"]:
            self.assertIn("\n" + verdict.replace("_", " ") + " ", self.texts["varied.txt"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    writer = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
