#!/usr/bin/env python3
"""Checks what the pages of the documentation name: every link leads to a file and a heading, every path in `backticks` to
a file or folder of the tree, and docs/README.md to every page of docs/. Their tables are whole.

    links_test.py
"""
import re
import unittest
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PARTS = ["base", "bench", "cmake", "crosscompile", "device-runtime", "docs", "examples", "farm", "host", "include", "module", "packaging"]
PARTS += ["rpc", "scripts", "tests", "toolchains"]
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


def named_paths(text):
    """The paths in backticks that begin with a folder of the tree, where a/{b,c} stands for two. Names in capitals are
    placeholders."""
    for code in re.findall(r"`([^`\s]+/[^`\s]+)`", text):
        if code.split("/")[0] in PARTS and not re.search(r"[A-Z]{3,}|[<>$=:@()]", code.replace("CMakeLists.txt", "").replace(".md", "")):
            yield from ("".join(choice) for choice in product(*(part.split(",") for part in re.split("[{}]", code))))


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

    def test_every_path_is_one_of_the_tree(self):
        count = 0
        for page in PAGES:
            for path in named_paths(prose(page)):
                count += 1
                with self.subTest(page=page.name, path=path):
                    # From the root, or beside the page.
                    is_there = any(ROOT.glob(path.rstrip("/"))) if "*" in path else (ROOT / path).exists() or (page.parent / path).exists()
                    self.assertTrue(is_there, "no such file")
        self.assertGreater(count, 500)

    def test_the_rows_of_a_table_have_as_many_cells_as_its_head(self):
        count = 0
        for page in PAGES:
            for table in re.findall(r"(?:^\|.*\n)+", prose(page), re.MULTILINE):
                count += 1
                with self.subTest(page=page.name, table=table[:80]):
                    self.assertRegex(table, r"^.*\n(?:\| *:?-+:? *)+\|\n", "expected a head and a rule")
                    # A | in a cell is \|, also within backticks.
                    head, *rows = [len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()]
                    self.assertEqual([row for row in rows if row != head], [])
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
