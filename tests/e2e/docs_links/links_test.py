#!/usr/bin/env python3
"""Checks the links between the pages of the documentation: every file and every heading that they name exists, and
docs/README.md leads to every page of docs/.

    links_test.py
"""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PARTS = ["base", "bench", "crosscompile", "device-runtime", "docs", "examples", "farm", "host", "module", "packaging", "rpc", "tests"]
PAGES = sorted(ROOT.glob("*.md")) + [page for part in PARTS for page in sorted(ROOT.glob(f"{part}/**/*.md"))]
LINK = re.compile(r"\]\(([^()\s]*)\)")


def prose(page):
    """The page without its blocks of code, which are fenced or indented after an empty line."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<=\n\n)(?: {4}.*\n)+", "", text)


def anchors(page):
    """The anchors that GitHub and GitLab make of the page's headings."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


class LinksTest(unittest.TestCase):
    def test_every_link_leads_to_a_file_and_a_heading(self):
        count = 0
        for page in PAGES:
            for link in LINK.findall(prose(page)):
                if re.match("[a-z]+://", link):
                    continue
                count += 1
                with self.subTest(page=page.name, link=link):
                    file, _, anchor = link.partition("#")
                    target = (page.parent / file).resolve() if file else page
                    self.assertTrue(target.exists(), "no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(target))
        self.assertGreater(count, 100)

    def test_the_index_leads_to_every_page(self):
        docs = ROOT / "docs"
        reached, open_pages = set(), [docs / "README.md"]
        while open_pages:
            page = open_pages.pop()
            reached.add(page)
            links = {(page.parent / link.partition("#")[0]).resolve() for link in LINK.findall(prose(page)) if "://" not in link}
            # An index of its own, such as that of the decisions, leads on; other pages are named by the index itself.
            open_pages += [link for link in links - reached if link.name == "README.md" and docs in link.parents]
            reached |= links
        self.assertEqual([page.relative_to(ROOT) for page in PAGES if docs in page.parents and page not in reached], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
