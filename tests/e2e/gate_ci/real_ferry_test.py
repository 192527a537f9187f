#!/usr/bin/env python3
"""Runs the shell steps of examples/ci with ferry itself, on a board on this machine: a first run, a kernel that became
slower, and the same kernel mended.

    real_ferry_test.py FERRY RPC_SERVER
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ci_steps

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "ci"
SERVER = pathlib.Path(sys.argv.pop(2)).resolve()
FERRY = pathlib.Path(sys.argv.pop(1)).resolve()

SUITE = """tolerance = "20%"
error-level = "40%"
samples = 5
[cases.spin]
kernel = "../kernels/spin.c"
[cases.twice]
kernel = "../kernels/twice.tc"
sizes = "N=100"
"""
# One and a half times the work is found in the fewest processes, on a busy machine as well.
FAST, SLOW = 4000, 6000
SPIN = """// ferry: spin(in f32[256] x, out f32[256] y)
void spin(const float* x, float* y) {
  for (int i = 0; i < 256; ++i) y[i] = x[i];
  for (int r = 0; r < ROUNDS; ++r)
    for (int i = 0; i < 256; ++i) y[i] = y[i] * 0.5f + x[i] * 0.5f;
}
"""


class Board:
    """A server on this machine, and the key for it."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.key = pathlib.Path(self.folder.name) / "board.key"
        self.process = subprocess.Popen([SERVER, "--port", "0", "--key-file", self.key], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        said = ""
        for line in self.process.stdout:
            said += line
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            if found:
                self.address = f"127.0.0.1:{found[1]}"
                return
        raise AssertionError("expected a server, got:\n" + said)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=10)
        self.process.stdout.close()
        self.folder.cleanup()


class Steps(unittest.TestCase):
    """Each system's steps in a checkout of its own."""

    @classmethod
    def setUpClass(cls):
        cls.board = Board()
        cls.addClassCleanup(cls.board.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.work = self.path / "a project"
        for name in ("bin", "a project/ci", "a project/kernels"):
            (self.path / name).mkdir(parents=True)
        (self.path / "bin" / "ferry").symlink_to(FERRY)
        (self.work / "ci" / "suite.toml").write_text(SUITE)
        (self.work / "ci" / "Makefile").write_bytes((EXAMPLES / "Makefile").read_bytes())
        (self.work / "kernels" / "twice.tc").write_text("def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }")

    def run_step(self, command, **environment):
        base = {"PATH": f"{self.path}/bin:/usr/bin:/bin", "HOME": str(self.path), "FERRY_REMOTE": self.board.address,
                "FERRY_KEY_FILE": str(self.board.key)}
        done = subprocess.run(command, cwd=self.work, env={**base, **environment}, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def commit(self, rounds):
        (self.work / "kernels" / "spin.c").write_text(SPIN.replace("ROUNDS", str(rounds)))
        for report in ("gate.xml", "gate.md", "gate.html"):
            (self.work / report).unlink(missing_ok=True)

    def expect_reports(self, failures, words):
        suite = ElementTree.parse(self.work / "gate.xml").getroot()
        self.assertEqual(len(suite.findall(".//testcase")), 2)
        self.assertEqual([len(suite.findall(".//failure"))], [failures])
        comment, page = (self.work / "gate.md").read_text(), (self.work / "gate.html").read_text()
        for word in ("spin", *words):
            self.assertIn(word, comment)
            self.assertIn(word, page)

    def expect_a_red_build_and_green_ones(self, run, red=1):
        """run(label, is_main) runs the system's steps and returns the exit code and the output."""
        self.commit(FAST)
        code, output = run("c1", True)
        self.assertEqual(code, 0, output)
        self.expect_reports(0, ["first"])
        self.commit(SLOW)
        code, output = run("c2", False)
        self.assertEqual(code, red, output)
        self.expect_reports(1, ["slower"])
        self.commit(FAST)
        code, output = run("c3", False)
        self.assertEqual(code, 0, output)
        self.expect_reports(0, ["unchanged"])


class GitHub(Steps):
    STEPS = {name: script for name, _, script in ci_steps.github_steps((EXAMPLES / "github.yml").read_text())}

    def test_github_actions(self):
        key = self.work / ".ferry.key"
        summary = self.path / "summary"

        def run(label, is_main):
            environment = {"FERRY_KEY": self.board.key.read_text().rstrip("\n"), "FERRY_KEY_FILE": str(key),
                           "EVENT": "push" if is_main else "pull_request", "COMMIT": label,
                           "GITHUB_STEP_SUMMARY": str(summary)}
            results = {name: self.run_step(["bash", "-e", "-c", self.STEPS[name]], **environment)
                       for name in ("Key of the board", "Compare with the baseline", "Summary", "Remove the key")}
            self.assertEqual([code for name, (code, _) in results.items() if name != "Compare with the baseline"],
                             [0, 0, 0], results)
            return results["Compare with the baseline"]

        self.expect_a_red_build_and_green_ones(run)
        self.assertFalse(key.exists())
        self.assertIn("slower", summary.read_text())
        history = self.run_step(["ferry", "gate", "history", "spin", "--suite", "ci/suite.toml", "--store", ".ferry-gate"])
        self.assertEqual(history[0], 0, history[1])
        for label in ("c1", "c2", "c3"):
            self.assertIn(label, history[1])


class GitLab(Steps):
    TEXT = (EXAMPLES / "gitlab-ci.yml").read_text()

    def test_gitlab(self):
        script = ci_steps.gitlab_script(self.TEXT, "script")

        def run(label, is_main):
            branch = {"CI_COMMIT_BRANCH": "main"} if is_main else {"CI_MERGE_REQUEST_IID": "7"}
            return self.run_step(["bash", "-euo", "pipefail", "-c", script], CI_COMMIT_SHA=label,
                                 CI_DEFAULT_BRANCH="main", **branch)

        self.expect_a_red_build_and_green_ones(run)


class Jenkins(Steps):
    def test_jenkins(self):
        (script,) = ci_steps.jenkins_scripts((EXAMPLES / "Jenkinsfile").read_text())

        def run(label, is_main):
            return self.run_step(["sh", "-xe", "-c", script], GIT_COMMIT=label,
                                 BRANCH_NAME="main" if is_main else "feature/a")

        self.expect_a_red_build_and_green_ones(run)


class Make(Steps):
    def test_make(self):
        def run(label, is_main):
            target = "gate-update" if is_main else "gate"
            return self.run_step(["make", "--no-print-directory", "-f", "ci/Makefile", target, f"LABEL={label}"])

        self.expect_a_red_build_and_green_ones(run, red=2)
        self.assertEqual((self.work / "gate.code").read_text(), "0\n")


if __name__ == "__main__":
    unittest.main()
