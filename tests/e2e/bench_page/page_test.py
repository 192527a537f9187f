#!/usr/bin/env python3
"""Reads the pages of 'ferry bench --html' with a parser that shares no code with ferry, and looks at them in headless
Chromium where there is one.

    page_test.py FERRY OUTPUT_FOLDER

Leaves screenshots in OUTPUT_FOLDER.
"""
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

KERNEL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }"
QUICK = ["--repeat", "8", "--min-repeat-ms", "0.1", "--warmup-ms", "0.1", "--threads", "1"]
PAGES = {
    "sizes": ["--sweep", "N=2^4..2^10", "--sweep", "M=1,2,4", "--size", "K=8"],
    "nearby": ["--sweep", "N=100..140+10", "--size", "M=4,K=4", "--no-peak"],
    "samples": ["--size", "M=16,N=16,K=16"],
}

ferry, output, program = None, None, find_program()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ferry-bench-")
        cls.printed = {}
        for name, words in PAGES.items():
            done = subprocess.run([ferry, "bench", "-e", KERNEL, *QUICK, *words, "--csv", "--html",
                                   f"{cls.folder.name}/{name}.html"], check=True, timeout=60, capture_output=True,
                                  text=True)
            cls.printed[name] = done.stdout

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def text_of(self, name):
        return Path(self.folder.name, name + ".html").read_text(encoding="utf-8")

    def test_pages_are_well_formed_and_need_nothing_else(self):
        for name in PAGES:
            with self.subTest(page=name):
                expect_standalone(self, self.text_of(name))

    def test_the_table_has_every_measurement_and_charts_have_a_mark_for_each(self):
        for name in PAGES:
            measured = len(self.printed[name].splitlines()) - 1
            page = self.text_of(name)
            self.assertEqual(page.count("<tr>"), measured + 1, name)
            figures = re.findall("<figure>.*?</figure>", page, re.DOTALL)
            self.assertEqual(len(figures), {"sizes": 4, "nearby": 2, "samples": 1}[name])
            for figure in figures:
                marks = len(re.findall('class="dots"', figure))
                self.assertEqual(marks, 1 if name == "samples" else measured, name)

    @unittest.skipIf(program is None, "expected Chromium (Debian's package chromium), got none")
    def test_pages_are_accessible_and_all_marks_are_inside_of_their_charts(self):
        with Browser(program) as browser:
            for name in PAGES:
                look_at(self, browser, Path(self.folder.name, name + ".html"), output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ferry, output = sys.argv[1], Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
