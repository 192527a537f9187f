"""Looks at a page with charts on screens of several sizes, light and dark."""
from pathlib import Path

ACCESSIBILITY = (Path(__file__).resolve().parent / "accessibility.js").read_text(encoding="utf-8")
OUTSIDE = """Array.from(document.querySelectorAll('svg')).flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return Array.from(svg.querySelectorAll('path, line, rect, text')).filter((mark) => {
    const box = mark.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
           box.bottom > frame.bottom + 1;
  }).map((mark) => mark.outerHTML.slice(0, 100));
})"""
SCREENS = {"desktop": (1280, 900, False), "phone": (375, 812, True)}


def look_at(test, browser, path, screenshots, prepare="null"):
    """Fails the test unless the page is accessible, as wide as the screen at most, and has all marks inside of its charts.

    Evaluates `prepare` in it first.
    """
    page = browser.new_page()
    page.open(f"file://{path}")
    page.evaluate(prepare)
    for size, (width, height, is_phone) in SCREENS.items():
        page.resize(width, height, is_phone)
        for scheme in ["light", "dark"]:
            page.prefer(scheme)
            place = f"{path.stem}, {size}, {scheme}"
            test.assertEqual(page.evaluate(ACCESSIBILITY), [], place)
            test.assertEqual(page.evaluate(OUTSIDE), [], place)
            test.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, place)
            test.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'"),
                             scheme == "light", place)
            page.screenshot(screenshots / f"{path.stem}-{size}-{scheme}.png")
    test.assertEqual(page.complaints(), [], path.stem)
