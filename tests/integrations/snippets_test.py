"""Tests integrations/gitlab and jenkins without servers:   snippets_test.py WHYOOM   (needs PyYAML)

Runs the snippets' shell commands like the servers.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

import yaml
from releases import Server  # in this folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTEGRATIONS = ROOT / "integrations"
CASES = ROOT / "testdata" / "cases"
WHYOOM = os.path.abspath(sys.argv.pop(1))


def flat(lines):
    """The lines of a script; GitLab joins lists inside it, which YAML anchors make."""
    return [line for entry in lines for line in (flat(entry) if isinstance(entry, list) else [entry])]


class CiServer(unittest.TestCase):
    """A workspace in which `whyoom` is the program, and `python train.py` prints a log and fails or succeeds."""

    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.workspace = pathlib.Path(keep.name)
        tools = self.workspace / "tools"
        tools.mkdir()
        (tools / "whyoom").symlink_to(WHYOOM)
        (tools / "python").symlink_to(sys.executable)
        self.env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        self.job(7)

    def job(self, status, case="compile-adam-state"):
        log = CASES / case / "log"
        (self.workspace / "train.py").write_text(
            f"import sys\nprint('begun', flush=True)\nsys.stderr.write(open({str(log)!r}).read())\nsys.exit({status})\n")  # fmt: skip

    def sh(self, lines, **env):
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(flat(lines))], cwd=self.workspace, env={**self.env, **env},
                              capture_output=True, text=True, check=False)  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def release(self):
        """Makes whyoom available only as a release. Returns the server and the variables for a job."""
        server = Server(self)
        (self.workspace / "tools" / "whyoom").unlink()
        (self.workspace / "ci").mkdir()
        shutil.copy(INTEGRATIONS / "get-whyoom.sh", self.workspace / "ci")
        return server, server.settings

    def failures(self):
        suites = xml.parse(self.workspace / "whyoom.xml").getroot()
        return [failure.get("message") + failure.text for failure in suites.iter("failure")]


class GitlabTest(CiServer):
    def setUp(self):
        super().setUp()
        jobs = yaml.safe_load((INTEGRATIONS / "gitlab" / "whyoom.gitlab-ci.yml").read_text())
        self.variables = {**jobs["variables"], "CI_PROJECT_DIR": str(self.workspace), "WHYOOM_CACHE": str(self.workspace / ".cache")}
        self.assertEqual(jobs["variables"]["WHYOOM_CACHE"], "$CI_PROJECT_DIR/.cache/whyoom")
        self.assertEqual(jobs[".whyoom-cache"]["cache"][0]["paths"], [".cache/whyoom"])
        self.train = {**jobs[jobs["train"]["extends"]], **jobs["train"]}
        self.train["variables"] = {**self.variables, **self.train["variables"]}
        self.dump = jobs["train-with-dump"]
        for job in (self.train, self.dump):
            self.assertEqual(job["artifacts"], {"when": "always", "reports": {"junit": "whyoom.xml"}})

    def test_a_failing_job_is_diagnosed_after_its_script(self):
        status, log = self.sh(self.train["script"], **self.train["variables"])
        self.assertEqual(status, 7)
        self.assertIn("RESOURCE_EXHAUSTED", log)
        status, log = self.sh(self.train["after_script"], **self.train["variables"])
        self.assertEqual(status, 0)
        self.assertIn("E1000  compile time", log)
        (failure,) = self.failures()
        self.assertIn("258.10 MiB", failure)

    def test_a_successful_job_has_no_failures(self):
        self.job(0, "silent-healthy-verbose-compile")
        self.assertEqual(self.sh(self.train["script"], **self.train["variables"])[0], 0)
        self.assertEqual(self.sh(self.train["after_script"], **self.train["variables"])[0], 0)
        self.assertEqual(self.failures(), [])

    def test_a_job_without_output_prints_nothing(self):
        self.assertEqual(self.sh(self.train["after_script"], **self.train["variables"]), (0, ""))

    def test_a_job_under_whyoom_run_is_diagnosed(self):
        status, log = self.sh(self.dump["script"], **self.variables)
        self.assertEqual(status, 7)
        self.assertIn("E1000  compile time", log)
        self.assertEqual(len(self.failures()), 1)

    def test_the_program_is_downloaded_once(self):
        server, settings = self.release()
        self.assertEqual(self.sh(self.train["script"], **self.train["variables"])[0], 7)
        for lines in (self.train["after_script"], self.dump["script"]):  # the second one uses the cache
            log = self.sh(lines, **{**self.train["variables"], **settings})[1]
            self.assertIn("E1000  compile time", log)
            self.assertEqual(len(self.failures()), 1)
            self.assertEqual(len(server.asked), 1)

    def test_a_program_that_cannot_be_fetched_does_not_stop_the_job(self):
        settings = {**self.release()[1], "WHYOOM_RELEASES": "http://127.0.0.1:1"}
        for required, expected in (("false", 7), ("true", 2)):
            status, log = self.sh(self.dump["script"], **{**self.variables, **settings, "WHYOOM_REQUIRED": required})
            self.assertEqual(status, expected)
            self.assertEqual("begun" in log, required == "false")
            self.assertIn("warning: whyoom is missing", log)

    def test_a_program_with_another_checksum_is_not_run(self):
        server, settings = self.release()
        server.put(b"#!/bin/sh\ntouch pwned\n")
        status, log = self.sh(self.dump["script"], **{**self.variables, **settings})
        self.assertEqual(status, 4)
        self.assertIn("has another checksum", log)
        self.assertNotIn("begun", log)
        self.assertFalse((self.workspace / "pwned").exists())


class JenkinsTest(CiServer):
    def setUp(self):
        super().setUp()
        text = (INTEGRATIONS / "jenkins" / "Jenkinsfile").read_text()
        found = re.findall(r"^\s*sh (?:'''(.*?)'''|'(.*?)')", text, re.M | re.S)
        self.steps = [long or short for long, short in found]
        self.assertEqual(len(self.steps), 3)
        self.assertIn('PATH = "${WORKSPACE}/.whyoom:${PATH}"', text)
        for name in ("WHYOOM_RELEASES", "WHYOOM_VERSION", "WHYOOM_SHA256"):
            self.assertRegex(text, rf"(?m)^\s*{name} = ''")
        self.assertIn("junit testResults: 'whyoom.xml', allowEmptyResults: true", text)
        self.assertEqual(text.count("{"), text.count("}"))

    def test_a_failing_build_is_diagnosed(self):
        self.assertEqual(self.sh(self.steps)[0], 7)
        self.assertEqual(len(self.failures()), 1)

    def test_a_successful_build_removes_the_earlier_report(self):
        self.sh(self.steps)
        self.job(0)
        self.assertEqual(self.sh(self.steps)[0], 0)
        self.assertFalse((self.workspace / "whyoom.xml").exists())

    def test_the_program_is_downloaded_once_and_its_checksum_verified(self):
        server, settings = self.release()
        path = f"{self.workspace}/.whyoom:{self.env['PATH']}"
        for _ in range(2):  # the second build uses the cache
            self.assertEqual(self.sh(self.steps, **settings, PATH=path)[0], 7)
            self.assertEqual(len(self.failures()), 1)
            self.assertEqual(len(server.asked), 1)
        shutil.rmtree(server.cache)
        server.put(b"#!/bin/sh\ntouch pwned\n")
        status, log = self.sh(self.steps, **settings, PATH=path)
        self.assertEqual(status, 4)
        self.assertNotIn("begun", log)

    def test_the_command_in_the_readme_works(self):
        (line,) = re.findall(r"`sh '(.*?)'`", (INTEGRATIONS / "jenkins" / "README.md").read_text())
        (self.workspace / "logs").mkdir()
        (self.workspace / "logs" / "a").write_bytes((CASES / "buffer-fragmented" / "log").read_bytes())
        self.assertEqual(self.sh([line])[0], 0)
        self.assertEqual(len(self.failures()), 1)


if __name__ == "__main__":
    unittest.main()
