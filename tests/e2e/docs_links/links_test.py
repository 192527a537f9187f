#!/usr/bin/env python3
"""Checks the links between the pages of the documentation: every file and every heading that they name exists, and
docs/README.md leads to every page.

    links_test.py
"""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(ROOT.glob("docs/*.md")) + [ROOT / name for name in ["README.md", "module/MODULE.md", "rpc/PROTOCOL.md"]]
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
        linked = {link.partition("#")[0] for link in LINK.findall(prose(ROOT / "docs/README.md"))}
        self.assertEqual({page.name for page in ROOT.glob("docs/*.md")} - linked, {"README.md"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
