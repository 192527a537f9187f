"""Compares docs/architecture/how_to_add.md with the tree: the files that a new CPU touches are those that name riscv64."""
import re
import sys
import unittest
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/architecture/how_to_add.md"
AREAS = ["base", "bench", "cmake", "crosscompile", "device-runtime", "farm", "host", "include", "module", "rpc", "scripts", "toolchains"]
SUFFIXES = {".h", ".cpp", ".def", ".cmake", ".sh", ".txt"}
NAMES = re.compile(r"riscv64|__riscv|EM_RISCV|AUDIT_ARCH_RISCV64")
# They name CPUs in an example or a test of a message alone.
EXAMPLES = {"farm/cli/farm_reserve.cpp", "farm/core/selector/selector.h"}


def without_comments(text: str, suffix: str) -> str:
    mark = "//" if suffix in {".h", ".cpp", ".def"} else "#"
    return "\n".join(re.sub(rf"(^|\s){mark}(?!if|el|define|include).*", "", line) for line in text.splitlines())


def section(title: str) -> str:
    return PAGE.read_text(encoding="utf-8").split(f"### {title}\n", 1)[1].split("\n### ", 1)[0].split("\n## ", 1)[0]


def named_paths(text: str) -> set[str]:
    """The paths in backticks, where a/{b,c} stands for two."""
    paths = set()
    for code in re.findall(r"`([^`\s]+/[^`\s]+)`", text):
        parts = [part.split(",") for part in re.split(r"[{}]", code)]
        paths |= {"".join(choice) for choice in product(*parts)} if "{" in code else {code}
    return paths


class NewCpu(unittest.TestCase):
    def setUp(self):
        self.named = named_paths(section("A CPU whose objects LLVM makes") + section("A CPU that an rpc_server runs on"))

    def test_every_file_that_names_a_cpu_is_in_the_recipe(self):
        missing = []
        for area in AREAS:
            for file in sorted((ROOT / area).rglob("*")):
                path = file.relative_to(ROOT).as_posix()
                if file.suffix not in SUFFIXES or path in EXAMPLES or path in self.named:
                    continue
                text = without_comments(file.read_text(encoding="utf-8", errors="replace"), file.suffix)
                if NAMES.search(text):
                    missing.append(path)
        self.assertEqual(missing, [], f"they name riscv64 and are not in the recipe of {PAGE.name}")

    def test_every_file_of_the_recipe_exists(self):
        self.assertGreater(len(self.named), 30)
        for path in self.named:
            self.assertTrue((ROOT / path).exists(), path)


if __name__ == "__main__":
    unittest.main()
