#!/usr/bin/env python3
"""Runs the shell steps of examples/ci with a program in place of ferry that knows the options of 'ferry gate', and
checks what they ask for and what they make of its exit codes.

    gate_ci_test.py FERRY        if this one has the command, each option in the examples must stand in its help
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ci_steps

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "ci"
FERRY = sys.argv.pop(1) if len(sys.argv) > 1 else "ferry"
CODES = (0, 1, 2, 3, 5)

# Writes its arguments to a file and the reports that they ask for, and exits with FAKE_CODE.
FAKE_FERRY = r"""#!/usr/bin/env python3
import argparse, json, os, sys
parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("command", choices=["gate"])
parser.add_argument("suite")
parser.add_argument("--remote", action="append", required=True)
for option in ("--baseline", "--label", "--store"):
    parser.add_argument(option, required=True)
for option in ("--junit", "--json", "--markdown", "--html"):
    parser.add_argument(option)
parser.add_argument("--case", action="append")
parser.add_argument("--update", action="store_true")
options = vars(parser.parse_args())
options["key_file"] = os.environ.get("FERRY_KEY_FILE")
options["key"] = open(options["key_file"]).read() if options["key_file"] else None
with open(os.environ["FAKE_LOG"], "w") as log:
    json.dump(options, log)
code = int(os.environ["FAKE_CODE"])
for report in ("junit", "json", "markdown", "html"):
    if options[report] and code != 2:
        with open(options[report], "w") as file:
            file.write(report + " report\n")
sys.exit(code)
"""

# Takes the place of gh and curl: appends its arguments to a file. FAKE_GH=1: there is no comment to edit yet.
FAKE_TOOL = r"""#!/bin/sh
printf '%s\n' "$(basename "$0") $*" >> "$FAKE_TOOLS"
case " $* " in *" --edit-last "*) exit "${FAKE_GH:-0}" ;; esac
"""


class Project:
    """A folder in which a system for continuous integration has checked out a project."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.programs = self.path / "bin"
        self.work = self.path / "a project"
        self.programs.mkdir()
        (self.work / "ci").mkdir(parents=True)
        for name in ("suite.toml", "Makefile"):
            (self.work / "ci" / name).write_bytes((EXAMPLES / name).read_bytes())
        for name, text in (("ferry", FAKE_FERRY), ("gh", FAKE_TOOL), ("curl", FAKE_TOOL)):
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)

    def run(self, command, code, **environment):
        """Runs a command with nothing but this environment, and returns its exit code and its output."""
        base = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.path), "FAKE_CODE": str(code),
                "FAKE_LOG": str(self.path / "log"), "FAKE_TOOLS": str(self.path / "tools")}
        done = subprocess.run(command, cwd=self.work, env={**base, **environment}, capture_output=True, text=True,
                              timeout=30, check=False)
        return done.returncode, done.stdout + done.stderr

    def asked(self):
        return json.loads((self.path / "log").read_text())

    def tools(self):
        file = self.path / "tools"
        return file.read_text().splitlines() if file.exists() else []


class GateInExamples(unittest.TestCase):
    def setUp(self):
        self.project = Project()
        self.addCleanup(self.project.folder.cleanup)

    def expect_request(self, is_update, **more):
        """What every example asks for."""
        asked = self.project.asked()
        expected = {"suite": "ci/suite.toml", "remote": ["farm://lab/rpi4"], "baseline": "main", "label": "abc123",
                    "update": is_update, "junit": "gate.xml", "markdown": "gate.md", "html": "gate.html", **more}
        self.assertEqual({key: asked[key] for key in expected}, expected)
        for report in ("gate.xml", "gate.md", "gate.html"):
            self.assertTrue((self.project.work / report).exists(), report)


class GitHub(GateInExamples):
    TEXT = (EXAMPLES / "github.yml").read_text()
    STEPS = {name: script for name, _, script in ci_steps.github_steps(TEXT)}

    def run_step(self, name, code=0, event="push", **more):
        environment = {
            "FERRY_REMOTE": "farm://lab/rpi4", "FERRY_KEY": "the key", "EVENT": event, "COMMIT": "abc123",
            "FERRY_KEY_FILE": str(self.project.work / ".ferry.key"), "PULL_REQUEST": "7", "GH_TOKEN": "token"}
        self.assertEqual(sorted(environment), sorted(ci_steps.github_environment(self.TEXT)))
        environment["GITHUB_STEP_SUMMARY"] = str(self.project.path / "summary")
        # As a runner starts scripts of bash.
        return self.project.run(["bash", "-e", "-c", self.STEPS[name]], code, **environment, **more)

    def test_no_step_contains_an_expression_that_others_could_write(self):
        self.assertEqual(len(self.STEPS), 5)
        for name, script in self.STEPS.items():
            self.assertNotIn("${{", script, name)

    def test_the_key_is_for_this_user_alone_and_is_removed(self):
        self.assertEqual(self.run_step("Key of the board")[0], 0)
        key = self.project.work / ".ferry.key"
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.run_step("Compare with the baseline")
        self.assertEqual(self.project.asked()["key"], "the key\n")
        self.assertEqual(self.run_step("Remove the key")[0], 0)
        self.assertFalse(key.exists())

    def test_a_push_updates_the_baseline_and_a_pull_request_does_not(self):
        self.run_step("Key of the board")
        for event in ("push", "pull_request"):
            code, output = self.run_step("Compare with the baseline", event=event)
            self.assertEqual(code, 0, output)
            self.expect_request(event == "push", store=".ferry-gate")

    def test_exit_codes_become_results_of_the_step(self):
        self.run_step("Key of the board")
        for code in CODES:
            got, output = self.run_step("Compare with the baseline", code)
            self.assertEqual(got, 0 if code == 3 else code, output)
            self.assertEqual("::error::" in output, code in (1, 2, 5), output)
            self.assertEqual("::warning::" in output, code == 3, output)

    def test_the_report_is_the_summary_and_a_comment(self):
        self.run_step("Key of the board")
        self.run_step("Compare with the baseline", 1, "pull_request")
        self.assertEqual(self.run_step("Summary")[0], 0)
        self.assertEqual((self.project.path / "summary").read_text(), "markdown report\n")
        self.assertEqual(self.run_step("Comment on the pull request")[0], 0)
        edit = "gh pr comment 7 --edit-last --body-file gate.md"
        self.assertEqual(self.project.tools(), [edit])
        self.assertEqual(self.run_step("Comment on the pull request", FAKE_GH="1")[0], 0)
        self.assertEqual(self.project.tools(), [edit, edit, "gh pr comment 7 --body-file gate.md"])

    def test_without_a_report_there_is_no_comment(self):
        self.run_step("Key of the board")
        self.run_step("Compare with the baseline", 2, "pull_request")
        for step in ("Summary", "Comment on the pull request"):
            code, output = self.run_step(step)
            self.assertEqual(code, 0, output)
        self.assertEqual(self.project.tools(), [])


class GitLab(GateInExamples):
    TEXT = (EXAMPLES / "gitlab-ci.yml").read_text()

    def run_script(self, key, code=0, **more):
        environment = {"FERRY_REMOTE": "farm://lab/rpi4", "CI_COMMIT_SHA": "abc123", "CI_DEFAULT_BRANCH": "main",
                       "CI_API_V4_URL": "https://gitlab.example.org/api/v4", "CI_PROJECT_ID": "5", **more}
        return self.project.run(["bash", "-euo", "pipefail", "-c", ci_steps.gitlab_script(self.TEXT, key)], code,
                                **environment)

    def test_the_default_branch_updates_the_baseline_and_a_merge_request_does_not(self):
        for branch in ({"CI_COMMIT_BRANCH": "main"}, {"CI_MERGE_REQUEST_IID": "7"}, {"CI_COMMIT_BRANCH": "other"}):
            code, output = self.run_script("script", **branch)
            self.assertEqual(code, 0, output)
            self.expect_request("main" in branch.values(), store=".ferry-gate")

    def test_exit_codes_are_those_of_ferry(self):
        for code in CODES:
            self.assertEqual(self.run_script("script", code, CI_COMMIT_BRANCH="main")[0], code)
        self.assertIn("allow_failure:\n    exit_codes: [3]\n", self.TEXT)

    def test_a_merge_request_gets_the_report_as_a_comment(self):
        request = {"CI_MERGE_REQUEST_IID": "7", "GATE_TOKEN": "secret"}
        self.run_script("script", 1, **request)
        code, output = self.run_script("after_script", **request)
        self.assertEqual(code, 0, output)
        (comment,) = self.project.tools()
        self.assertIn("https://gitlab.example.org/api/v4/projects/5/merge_requests/7/notes", comment)
        self.assertIn("body@gate.md", comment)

    def test_without_a_token_a_request_or_a_report_there_is_no_comment(self):
        for environment in ({}, {"CI_MERGE_REQUEST_IID": "7"}, {"CI_MERGE_REQUEST_IID": "7", "GATE_TOKEN": "secret"}):
            code, output = self.run_script("after_script", **environment)
            self.assertEqual(code, 0, output)
        self.assertEqual(self.project.tools(), [])


class Jenkins(GateInExamples):
    TEXT = (EXAMPLES / "Jenkinsfile").read_text()

    def run_script(self, branch, code=0):
        (script,) = ci_steps.jenkins_scripts(self.TEXT)
        return self.project.run(["sh", "-xe", "-c", script], code, FERRY_REMOTE="farm://lab/rpi4", GIT_COMMIT="abc123",
                                BRANCH_NAME=branch)

    def test_main_updates_the_baseline_and_other_branches_do_not(self):
        for branch in ("main", "feature/a", ""):
            code, output = self.run_script(branch)
            self.assertEqual(code, 0, output)
            self.expect_request(branch == "main", store=str(self.project.path / "ferry-gate"))

    def test_exit_codes_reach_the_pipeline(self):
        for code in CODES:
            self.assertEqual(self.run_script("main", code)[0], code)
        for code in (3, 5):
            self.assertIn(f"(code == {code})", self.TEXT)


class Make(GateInExamples):
    def make(self, target, code=0):
        return self.project.run(["make", "--no-print-directory", "-f", "ci/Makefile", target, "LABEL=abc123"], code)

    def test_each_target_asks_for_its_part(self):
        for target in ("gate", "gate-update"):
            code, output = self.make(target)
            self.assertEqual(code, 0, output)
            self.expect_request(target == "gate-update", store=str(self.project.path / ".cache" / "ferry-gate"))

    def test_a_failure_of_ferry_is_one_of_make_and_its_code_is_kept(self):
        for code in CODES:
            self.assertEqual(self.make("gate", code)[0], 0 if code == 0 else 2)
            self.assertEqual((self.project.work / "gate.code").read_text(), f"{code}\n")

    def test_without_git_the_label_is_unknown(self):
        code, output = self.project.run(["make", "-f", "ci/Makefile", "gate"], 0, GIT_DIR="/nowhere")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.project.asked()["label"], "unknown")


class RealFerry(unittest.TestCase):
    def test_the_help_lists_every_option_of_the_examples(self):
        shown = subprocess.run([FERRY, "gate", "--help"], capture_output=True, text=True, timeout=30, check=False)
        if shown.returncode != 0 or "suite" not in shown.stdout.lower():
            self.skipTest(f"{FERRY} has no command 'gate'")
        for option in ("--remote", "--baseline", "--label", "--update", "--store", "--junit", "--markdown", "--html"):
            self.assertIn(option, shown.stdout)


if __name__ == "__main__":
    unittest.main()
