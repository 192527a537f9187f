#!/usr/bin/env python3
"""Tests the gate's HTML page in headless Chromium: how it looks, that keyboards and screen readers get along with it, and
that names stay texts.

    browser_test.py GATE_REPORT_WRITER OUTPUT_FOLDER

Leaves screenshots in OUTPUT_FOLDER. Exits with 77, which ctest reports as skipped, where there is no Chromium.
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[2] / "support/browser"
sys.path.insert(0, str(SUPPORT))
from chromium import Browser, find_program  # noqa: E402: its folder is known only now
from look_at import OUTSIDE, SCREENS, look_at  # noqa: E402

NAMES = ["empty", "varied", "hostile", "extreme", "failure", "history"]
OPEN_ALL = "document.querySelectorAll('details').forEach((d) => { d.open = true; })"

program, writer, output = find_program(), None, None


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ferry-gate-")
        subprocess.run([writer, cls.folder.name], check=True, timeout=60)
        cls.browser = Browser(program)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def opened(self, name):
        page = self.browser.new_page()
        page.open(f"file://{self.folder.name}/{name}.html")
        return page

    def test_every_report_is_accessible_and_fits_in_light_and_dark_on_desktop_and_phone(self):
        for name in NAMES:
            look_at(self, self.browser, Path(self.folder.name, name + ".html"), output, OPEN_ALL)

    def test_hostile_names_stay_texts(self):
        page = self.opened("hostile")
        page.evaluate(OPEN_ALL)
        self.assertEqual(page.evaluate("typeof hacked"), "undefined")
        inside = page.evaluate("Array.from(document.querySelectorAll('script, img, iframe, b, [onmouseover], [onerror], "
                               "a:not([href^=\"#\"]), h1 + h1'), (e) => e.outerHTML)")
        self.assertEqual(inside, [])
        self.assertEqual(page.evaluate("document.querySelectorAll('h1').length"), 1)

    def test_a_phone_shows_the_verdicts_without_scrolling(self):
        for name in ["varied", "extreme", "history"]:
            page = self.opened(name)
            page.resize(*SCREENS["phone"])
            hidden = page.evaluate("""Array.from(document.querySelectorAll('td .verdict')).filter((word) => {
              const box = word.getBoundingClientRect();
              return box.width > 0 && (box.left < 0 || box.right > window.innerWidth);
            }).map((word) => word.closest('tr').textContent)""")
            self.assertEqual(hidden, [], name)
            self.assertGreater(page.evaluate("document.querySelectorAll('td .verdict').length"), 5)

    def test_all_marks_are_inside_of_their_charts(self):
        for name, size in [("varied", "desktop"), ("varied", "phone"), ("extreme", "desktop"), ("history", "desktop"),
                           ("history", "phone")]:
            page = self.opened(name)
            page.resize(*SCREENS[size])
            page.evaluate(OPEN_ALL)
            outside = page.evaluate(OUTSIDE)
            self.assertEqual(outside, [], f"{name}, {size}")
            self.assertGreater(page.evaluate("document.querySelectorAll('svg .dots').length"), 10)

    def test_the_keyboard_reaches_the_results_and_opens_a_diff(self):
        page = self.opened("varied")
        page.press("Tab", 9)
        self.assertEqual(page.evaluate("document.activeElement.textContent"), "Skip to the results")
        self.assertGreaterEqual(page.evaluate("document.activeElement.getBoundingClientRect().top"), 0)
        page.evaluate("document.querySelector('#case-5 summary').focus()")
        page.press("Enter", 13)
        page.wait_until("document.querySelector('#case-5 details').open", "the diff of the schedule")
        page.press("Tab", 9)
        self.assertEqual(page.evaluate("document.activeElement.getAttribute('aria-label')"),
                         "Operators of mm on rpi4 (rpi4-03)")
        self.assertNotEqual(page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none")

    def test_a_link_leads_to_its_case_without_scripts(self):
        page = self.browser.new_page()
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.open(f"file://{self.folder.name}/varied.html#case-5")
        page.wait_until("document.querySelector('#case-5')", "the case")
        self.assertLess(abs(page.evaluate("document.querySelector('#case-5').getBoundingClientRect().top")), 900)
        self.assertEqual(page.evaluate("document.querySelector('#case-5 h2').innerText"),
                         "mm on rpi4 (rpi4-03): ✖ slower")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if program is None:
        print("skipped: expected Chromium (Debian's package chromium), got none")
        sys.exit(77)
    writer, output = sys.argv[1], Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
