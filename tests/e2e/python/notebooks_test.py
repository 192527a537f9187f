"""notebooks_test.py SOURCE_DIR BINARY_DIR: the cells of examples/notebooks run one after the other, as in Jupyter, and the
lines of the README for Python do with inputs of any size.

Cells with the tag `plot` need matplotlib, and are left out, which is said, where that is not installed."""
import ast
import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import ferry
from servers import start_farm, start_server

SOURCE = Path(sys.argv[1])  # with --cells, not used
NOTEBOOKS = sorted((SOURCE / "examples/notebooks").glob("[0-9]*.md"))
CELL = re.compile(r"^```\{code-cell\} ipython3\n(?::tags: \[(?P<tags>[^\]]*)\]\n\n)?(?P<code>.*?)^```$", re.M | re.S)
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def run_cells(file):
    """In this process, in the current folder. Shows what each cell ends with, as a notebook does."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(CELL.finditer(file.read_text()), 1):
        if cell["tags"] and "plot" in cell["tags"].split(", ") and not HAS_MATPLOTLIB:
            print(f"{file.name}, cell {number} draws, and matplotlib is not installed: left out")
            continue
        tree = ast.parse(cell["code"], f"{file.name}, cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{file.name}, cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"{file.name}, cell {number}", "eval"), names)
            if hasattr(value, "_repr_html_"):
                assert "<table>" in value._repr_html_()
            print(repr(value))


class NotebooksTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="ferry-notebook-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def run_notebook(self, file, devices=""):
        (self.folder / "devices.toml").write_text(devices)
        environment = {**os.environ, "FERRY_DEVICES": str(self.folder / "devices.toml"), "MPLBACKEND": "agg"}
        folders = [str(Path(ferry.__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        environment.pop("FERRY_REMOTE", None)
        done = subprocess.run([sys.executable, __file__, "--cells", file], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, f"{file.name}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_there_are_ten_which_the_page_of_the_folder_lists(self):
        page = (SOURCE / "examples/notebooks/README.md").read_text()
        self.assertEqual(len(NOTEBOOKS), 10)
        for file in NOTEBOOKS:
            self.assertIn(f"({file.name})", page)
            self.assertGreaterEqual(len(CELL.findall(file.read_text())), 2, file.name)
            self.assertLess(len(file.read_text().splitlines()), 80, file.name)

    def test_the_readmes_lines_hold_for_random_normal_inputs_of_4096_terms(self):
        lines = re.search(r"^    import ferry, numpy as np\n(?:    .*\n)+", (SOURCE / "README.md").read_text(), re.M)[0]
        code = re.sub(r"^    ", "", lines, flags=re.M)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)  # as they stand there
        self.assertEqual(names["A"].shape, (512, 512))
        mm, rng = names["mm"], np.random.default_rng(2)
        a, b = rng.normal(size=(67, 4096)).astype("f4"), rng.normal(size=(4096, 33)).astype("f4")
        ferry.testing.assert_close(mm(a, b), mm, a, b, random=True)
        ferry.testing.assert_close(a @ b, mm, a, b, random=True)
        self.assertIn("mm: ", repr(mm.bench(a, b, repeat=6, peak=False)))


def add_test(file):
    def run(self):
        if "remote_board" in file.name:
            self.run_notebook(file, f'[pi]\naddress = "{start_server(self, SOURCE)}"\n')
        elif "farm" in file.name:
            address, key = start_farm(self, SOURCE, self.folder, ["one"])
            self.run_notebook(file, f'[lab]\nfarm = "{address}"\nkey = "{key}"\n')
        else:
            self.run_notebook(file)

    setattr(NotebooksTest, f"test_the_cells_of_{file.stem}_run", run)


if __name__ == "__main__" and sys.argv[1] == "--cells":
    run_cells(Path(sys.argv[2]))
elif __name__ == "__main__":
    del sys.argv[1:3]
    for notebook in NOTEBOOKS:
        add_test(notebook)
    unittest.main()
