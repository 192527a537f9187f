"""Gives scripts/layers.py tables with one mistake each, and compares the tree's own table with the tree."""
import json
import re
import sys
import unittest
from operator import attrgetter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import folders_page  # noqa: E402
import layers  # noqa: E402


def table(folders, mutually_recursive=(), **more):
    groups = [{"title": "all", "folders": folders}]
    return json.dumps({"groups": groups, "mutually_recursive": list(mutually_recursive), **more})


def folder(*may_include, **more):
    return {"purpose": "an example", "may_include": list(may_include), **more}


class Table(unittest.TestCase):
    def refused(self, text, *words):
        with self.assertRaises(layers.TableError) as caught:
            layers.parse(text)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_a_table_without_mistakes_is_read(self):
        read = layers.parse(table({"a": folder(library="lib_a", public=["ferry/a.h"]), "b": folder("a")}))
        self.assertEqual(read.folders["b"].may_include, ["a"])
        self.assertEqual(attrgetter("library")(read.folders["a"]), "lib_a")
        self.assertEqual(read.groups, {"all": ["a", "b"]})

    def test_a_key_that_stands_twice_is_refused(self):
        text = table({"a": folder(), "b": folder("a")}).replace('"b"', '"a"')
        self.refused(text, "the key 'a' stands twice in one object")
        self.refused(table({"a": folder()}).replace('"purpose"', '"may_include": [], "purpose"'), "'may_include' stands twice")

    def test_a_folder_of_two_groups_is_refused(self):
        group = {"title": "one", "folders": {"a": folder()}}
        text = json.dumps({"groups": [group, {**group, "title": "two"}], "mutually_recursive": []})
        self.refused(text, "a stands in two groups")

    def test_folders_that_include_one_another_are_refused_unless_declared(self):
        folders = {"a": folder("c"), "b": folder("a"), "c": folder("b"), "d": folder("a")}
        self.refused(table(folders), "a, b, c include one another")
        self.refused(table(folders, [["a", "b"]]), "a, b, c include one another")
        self.assertEqual(layers.parse(table(folders, [["c", "a", "b"]])).mutually_recursive, [["c", "a", "b"]])

    def test_a_declared_recursion_that_does_not_exist_is_refused(self):
        folders = {"a": folder("b"), "b": folder()}
        self.refused(table(folders, [["a", "b"]]), "a, b, which do not all include one another")

    def test_a_folder_may_include_only_folders_of_the_table(self):
        self.refused(table({"a": folder("b")}), "a may include b, which is not in the table")
        self.refused(table({"a": folder("a")}), "a names itself")
        self.refused(table({"b": folder(), "a": folder("b", "b")}), "a: may_include names something twice")

    def test_a_header_belongs_to_one_folder(self):
        folders = {"a": folder(public=["ferry/x.h"]), "b": folder(public=["ferry/x.h"])}
        self.refused(table(folders), "ferry/x.h belongs to two folders")

    def test_records_have_the_keys_that_the_readers_know(self):
        self.refused(table({"a": {"purpose": "an example"}}), "a: expected the key 'may_include'")
        self.refused(table({"a": folder(libary="lib")}), "a: unknown key 'libary'")
        self.refused(table({"a": {"purpose": "", "may_include": []}}), "a: expected a line about what the folder is for")
        self.refused(table({"a": {"purpose": "x", "may_include": "base"}}), "expected may_include as a list of strings, got 'base'")
        self.refused("{", "Expecting")


class Tree(unittest.TestCase):
    def setUp(self):
        self.layers = layers.read()

    def test_every_folder_of_the_table_has_files(self):
        for name in self.layers.folders:
            files = [file for file in (ROOT / name).glob("*") if file.is_file() and file.name != "CMakeLists.txt"]
            self.assertTrue(files, name)

    def test_every_folder_with_sources_is_in_the_table(self):
        areas = {name.split("/")[0] for name in self.layers.folders}
        folders = {file.parent.relative_to(ROOT).as_posix() for area in areas for file in (ROOT / area).rglob("*.cpp")}
        self.assertEqual(sorted(folders - set(self.layers.folders)), [])

    def test_every_installed_header_belongs_to_a_folder(self):
        places = {header for folder in self.layers.folders.values() for header in folder.public}
        for place in places:
            self.assertTrue((ROOT / "include" / place).exists(), place)
        # ferry/ferry.h is for users alone, who include all the others by it.
        for file in (ROOT / "include/ferry").rglob("*.*"):
            header = file.relative_to(ROOT / "include").as_posix()
            self.assertTrue({header, header.rpartition("/")[0]} & places or header == "ferry/ferry.h", header)

    def test_every_library_is_made_by_one_CMakeLists(self):
        areas = {name.split("/")[0] for name in self.layers.folders}
        made = []
        for area in areas:
            for file in (ROOT / area).rglob("CMakeLists.txt"):
                made += re.findall(r"^\s*ferry_library\((\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        named = set(map(attrgetter("library"), self.layers.folders.values())) - {None}
        self.assertEqual(sorted(made), sorted(named))

    def test_the_page_of_the_folders_shows_the_table(self):
        page = folders_page.PAGE.read_text(encoding="utf-8")
        self.assertEqual(page, folders_page.with_tables(page, self.layers), "run python3 scripts/folders_page.py")


if __name__ == "__main__":
    unittest.main()
