#!/usr/bin/env python3
"""Reads the pages of 'ferry tune --html' with a parser that shares no code with ferry, and looks at them in headless
Chromium where there is one.

    page_test.py FERRY OUTPUT_FOLDER

Leaves screenshots in OUTPUT_FOLDER.
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[2] / "support/browser"
sys.path.insert(0, str(SUPPORT))
from chromium import Browser, find_program  # noqa: E402: its folder is known only now
from look_at import look_at  # noqa: E402
from page_reader import expect_standalone  # noqa: E402

KERNELS = {
    # More operations a byte than a core can feed, fewer, and none of floats.
    "product": ["-e", "def mm(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }",
                "--size", "M=128,N=128,K=128"],
    "scale": ["-e", "def scale(float(M,N) A) -> (B) { B(i,j) = A(i,j) * 2.0 }", "--size", "M=512,N=512"],
    "count": ["-e", "def count(int32(M,K) A, int32(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }",
              "--size", "M=37,N=64,K=40"],
}
FIGURES = {"product": ["course", "roofline", "predictions"], "scale": ["course", "roofline", "predictions"],
           "count": ["course", "predictions"]}

ferry, output, program = None, None, find_program()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ferry-tune-")
        cls.trials = {}
        for name, words in KERNELS.items():
            done = subprocess.run([ferry, "tune", *words, "--threads", "1", "--trials", "12", "--processes", "0",
                                   "--records", f"{cls.folder.name}/records.jsonl", "--json",
                                   "--html", cls.path_of(name)], check=True, timeout=60, capture_output=True, text=True)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            cls.trials[name] = [line for line in lines if line["schema"] == "ferry.trial/1"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path_of(cls, name):
        return Path(cls.folder.name, name + ".html")

    def test_pages_are_well_formed_and_need_nothing_else(self):
        for name in KERNELS:
            with self.subTest(page=name):
                expect_standalone(self, self.path_of(name).read_text(encoding="utf-8"))

    def test_charts_have_a_mark_for_each_schedule_that_was_measured(self):
        for name in KERNELS:
            with self.subTest(page=name):
                text = self.path_of(name).read_text(encoding="utf-8")
                figures = dict(zip(re.findall('aria-labelledby="([a-z]*)-title"', text),
                                   re.findall("<figure>.*?</figure>", text, re.DOTALL)))
                self.assertEqual(list(figures), FIGURES[name])
                measured = sum(trial["outcome"] == "measured" for trial in self.trials[name])
                points = re.search('class="course" d="([^"]*)"', figures["predictions"])[1]
                self.assertEqual(points.count("M"), measured)
                for figure in ["roofline", "predictions"]:
                    self.assertEqual(figures.get(figure, "").count('class="dots"'), 2 * (figure in figures))
                self.assertEqual("peaks are not known" in text, "roofline" not in figures)

    @unittest.skipIf(program is None, "expected Chromium (Debian's package chromium), got none")
    def test_pages_are_accessible_and_all_marks_are_inside_of_their_charts(self):
        with Browser(program) as browser:
            for name in KERNELS:
                look_at(self, browser, self.path_of(name), output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ferry, output = sys.argv[1], Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
