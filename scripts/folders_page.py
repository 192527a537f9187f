"""Writes the tables of docs/architecture/folders.md from cmake/layers.json.

    scripts/folders_page.py [--check]      rewrites the page; --check only says whether it is up to date
"""
import difflib
import sys
from pathlib import Path

import layers

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture/folders.md"
BEGIN, END = "<!-- from cmake/layers.json -->\n", "<!-- end -->\n"


def tables(table: layers.Layers) -> str:
    text = ""
    for title, names in table.groups.items():
        text += f"### {title}\n\n| folder | what it is for | may include, beside what these may |\n| --- | --- | --- |\n"
        for name in names:
            folder = table.folders[name]
            included = ", ".join(f"`{other}`" for other in folder.may_include) or "nothing of ferry"
            text += f"| `{name}` | {folder.purpose} | {included} |\n"
        text += "\n"
    return text


def with_tables(page: str, table: layers.Layers) -> str:
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise layers.TableError(f"{PAGE.name}: expected the lines {BEGIN.strip()} and {END.strip()}")
    return before + begin + "\n" + tables(table) + end + after


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    wanted = with_tables(page, layers.read())
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    print("".join(difflib.unified_diff(page.splitlines(True), wanted.splitlines(True), PAGE.name, "scripts/folders_page.py")))
    return 1 if page != wanted else 0


if __name__ == "__main__":
    sys.exit(main())
