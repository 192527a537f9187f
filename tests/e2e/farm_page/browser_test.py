#!/usr/bin/env python3
"""Tests a farm's page in headless Chromium: what people do on it, how it looks, and that names stay texts.

    browser_test.py FARM_PAGE_SERVER OUTPUT_FOLDER

Leaves screenshots in OUTPUT_FOLDER. Exits with 77, which ctest reports as skipped, where there is no Chromium.
"""
import subprocess
import sys
import time
import unittest
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[2] / "support/browser"
sys.path.insert(0, str(SUPPORT))
from chromium import Browser, find_program  # noqa: E402: its folder is known only now

ACCESSIBILITY = (SUPPORT / "accessibility.js").read_text(encoding="utf-8")
HOSTILE = ["<script>window.hacked=1</script>", '"><img src=x onerror=hacked=1>', "' onmouseover='hacked=1",
           "</td></table><h1>owned</h1>", "javascript:hacked=1//&lt;b&gt;"]
PAGES = ["/", "/board?name=rpi4-01", "/board?name=rpi4-04", "/queue", "/history", "/audit",
         "/board?name=%22%3E%3Cimg%20src%3Dx%20onerror%3Dhacked%3D1%3E", "/board?name=missing"]
SIZES = {"desktop": (1280, 900, False), "phone": (375, 812, True)}

program, server_path, output = find_program(), None, None


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([server_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.url = cls.server.stdout.readline().strip().rstrip("/")
        cls.browser = Browser(program)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.server.stdin.close()
        cls.server.stdout.close()
        cls.server.wait(10)

    def change_farm(self):
        self.server.stdin.write("\n")
        self.server.stdin.flush()

    def logged_in(self, token="token-of-an-admin", scripts=True):
        page = self.browser.new_page()
        if not scripts:
            page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.open(self.url + "/")
        self.assertEqual(page.evaluate("location.pathname"), "/login")
        page.evaluate("document.querySelector('#token').focus()")
        page.call("Input.insertText", text=token)
        page.act(lambda: page.press("Enter", 13))
        self.assertEqual(page.evaluate("location.pathname"), "/", page.evaluate("document.body.innerText"))
        return page

    def holder_of(self, board):
        return (f"Array.from(document.querySelectorAll('#boards tbody tr')).find((row) => "
                f"row.cells[0].textContent.trim() === '{board}').cells[2].textContent.trim()")

    def test_an_admin_logs_in_drains_a_board_and_logs_out(self):
        page = self.logged_in()
        self.assertIn("ada (admin)", page.evaluate("document.querySelector('header').innerText"))
        page.click("a[href='/board?name=rpi4-06']")
        self.assertEqual(page.evaluate("document.querySelector('h1').textContent"), "rpi4-06")
        page.click("#orders button[aria-label='Drain for maintenance: rpi4-06']")
        self.assertEqual(page.evaluate("document.querySelector('#now .state').textContent"), "maintenance")
        self.assertIn("drained", page.evaluate("document.querySelector('[role=alert]').textContent"))
        page.click("#orders button[aria-label='Return to service: rpi4-06']")
        self.assertEqual(page.evaluate("document.querySelector('#now .state').textContent"), "unknown")
        page.click(".who button")
        self.assertEqual(page.evaluate("location.pathname"), "/login")
        page.open(self.url + "/queue")
        self.assertEqual(page.evaluate("location.pathname"), "/login")
        self.assertEqual(page.complaints(), [])

    def test_a_user_releases_his_own_lease_and_sees_no_other_buttons(self):
        page = self.logged_in("token-of-a-user")
        page.open(self.url + "/queue")
        labels = page.evaluate("Array.from(document.querySelectorAll('main button'), (b) => b.ariaLabel)")
        self.assertEqual(labels, ["Release the lease of uwe on rpi4-01", "Cancel the request of uwe for rpi4-02"])
        page.click("button[aria-label='Cancel the request of uwe for rpi4-02']")
        self.assertNotIn("Cancel", page.evaluate("document.querySelector('main').innerText"))
        page.open(self.url + "/board?name=rpi4-02")
        self.assertEqual(page.evaluate("document.querySelectorAll('main button').length"), 0)

    def test_the_page_follows_changes_by_itself_and_keeps_the_focus(self):
        page = self.logged_in()
        page.wait_until("document.querySelector('#boards')", "boards")
        time.sleep(1)  # past the refresh with which the stream of events begins
        page.evaluate("document.querySelector(\"a[href='/board?name=rpi4-05']\").focus()")
        before = page.evaluate(self.holder_of("rpi4-05"))
        self.change_farm()
        page.wait_until(f"({self.holder_of('rpi4-05')}) !== '{before}'", "another holder of rpi4-05")
        self.assertEqual(page.evaluate("document.activeElement.getAttribute('href')"), "/board?name=rpi4-05")
        page.wait_until("document.querySelector('#summary').textContent.includes('leased')", "a new summary")
        self.assertEqual(page.complaints(), [])

    def test_all_works_without_scripts(self):
        page = self.logged_in(scripts=False)
        self.change_farm()
        rows = page.evaluate("document.querySelectorAll('#boards tbody tr').length")
        self.assertGreaterEqual(rows, 20)
        page.click("a[href='/board?name=rpi4-01']")
        self.assertGreater(page.evaluate("document.querySelectorAll('#health svg circle').length"), 50)
        self.assertIn("SIGSEGV", page.evaluate("document.querySelector('#sessions pre').textContent"))
        page.click("#retire button")
        self.assertEqual(page.evaluate("document.querySelector('#now .state').textContent"), "retired")
        page.click("#orders button[aria-label='Return to service: rpi4-01']")
        page.screenshot(output / "without-scripts.png")
        page.click(".who button")
        self.assertEqual(page.evaluate("location.pathname"), "/login")

    def test_hostile_names_stay_texts(self):
        page = self.logged_in()
        for path in PAGES:
            page.open(self.url + path)
            self.assertEqual(page.evaluate("typeof hacked"), "undefined", path)
            inside = page.evaluate("Array.from(document.querySelectorAll('main script, img, iframe, [onmouseover], "
                                   "[onerror], a:not([href^=\"/\"]):not([href^=\"#\"]), h1 + h1'), (e) => e.outerHTML)")
            self.assertEqual(inside, [], path)
            hidden = page.evaluate("(document.body.innerText.match(/[\\u0000-\\u0008\\u001b\\u202a-\\u202e\\u2066-\\u2069]/g) "
                                   "|| []).length")
            self.assertEqual(hidden, 0, path)
        page.open(self.url + "/")
        heads = page.evaluate("Array.from(document.querySelectorAll('tbody th'), (head) => head.textContent)")
        for name in HOSTILE:
            self.assertIn(name, [head.strip() for head in heads])
        # Their links lead to their own pages.
        page.act(lambda: page.evaluate("Array.from(document.querySelectorAll('tbody th a')).find((a) => "
                                       "a.textContent.includes('</td>')).click()"))
        self.assertEqual(page.evaluate("document.querySelector('h1').textContent"), HOSTILE[3])
        self.assertEqual([text for text in page.complaints() if "404" not in text], [])

    def test_every_page_is_accessible_and_fits_in_light_and_dark_on_desktop_and_phone(self):
        page = self.logged_in()
        for path in PAGES:
            page.resize(*SIZES["desktop"])
            page.open(self.url + path)
            name = path.strip("/").replace("?name=", "-") or "boards"
            for size, (width, height, is_phone) in SIZES.items():
                page.resize(width, height, is_phone)
                for scheme in ["light", "dark"]:
                    page.prefer(scheme)
                    place = f"{path}, {size}, {scheme}"
                    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                    self.assertEqual(page.evaluate("innerWidth"), width, place)
                    self.assertEqual(page.evaluate(ACCESSIBILITY), [], place)
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, place)
                    self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor === "
                                                   "'rgb(255, 255, 255)'"), scheme == "light", place)
                    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = false; })")
                    if path in PAGES[:6]:
                        shot = page.screenshot(output / f"{name}-{size}-{scheme}.png")
                        self.assertEqual(shot[0], width, place)

    def test_the_keyboard_reaches_the_content_first_and_the_focus_is_visible(self):
        page = self.logged_in()
        page.press("Tab", 9)
        self.assertEqual(page.evaluate("document.activeElement.textContent"), "Skip to the content")
        self.assertGreaterEqual(page.evaluate("document.activeElement.getBoundingClientRect().top"), 0)
        page.press("Enter", 13)
        page.wait_until("location.hash === '#content'", "a jump to the content")
        page.press("Tab", 9)
        self.assertEqual(page.evaluate("document.activeElement.id"), "selector")
        self.assertNotEqual(page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none")

    def test_the_login_page_is_accessible_and_says_what_is_wrong(self):
        page = self.browser.new_page()
        page.open(self.url + "/login")
        self.assertEqual(page.evaluate(ACCESSIBILITY), [])
        page.evaluate("document.querySelector('#token').focus()")
        page.call("Input.insertText", text="wrong")
        page.act(lambda: page.press("Enter", 13))
        self.assertIn("unknown or revoked", page.evaluate("document.querySelector('[role=alert]').textContent"))
        self.assertEqual(page.evaluate(ACCESSIBILITY), [])
        page.screenshot(output / "login.png")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if program is None:
        print("skipped: expected Chromium (Debian's package chromium), got none")
        sys.exit(77)
    server_path, output = sys.argv[1], Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
