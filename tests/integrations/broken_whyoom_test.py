"""Runs the shell lines of every recipe with a whyoom that is missing, crashes or refuses its options:   broken_whyoom_test.py

The job must run as often as without whyoom, and its exit status must be kept. Needs PyYAML.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTEGRATIONS = ROOT / "integrations"
# What `whyoom` does; a missing one is not created.
BROKEN = {"missing": "exit 127", "crashes": "kill -SEGV $$", "refuses": "echo 'whyoom: unknown option' >&2; exit 2"}
STATUS = 7


def text(path):
    return (ROOT / path).read_text()


def gitlab():
    lines = yaml.safe_load(text("integrations/gitlab/whyoom.gitlab-ci.yml"))["train-with-dump"]["script"]
    flat = [line for entry in lines for line in (entry if isinstance(entry, list) else [entry])]
    return ["bash", "-eo", "pipefail", "-c", "\n".join(flat)]


def jenkins():
    lines = re.findall(r"^ *sh ('''.*?'''|'[^'\n]+')", text("integrations/jenkins/Jenkinsfile"), re.M | re.S)
    return ["sh", "-xec", "\n".join(line.strip("'") for line in lines)]


def container(name):
    spec = yaml.safe_load(text(f"integrations/kubernetes/{name}.yaml"))["spec"]
    spec = spec["replicatedJobs"][0]["template"]["spec"] if "replicatedJobs" in spec else spec
    return spec["template"]["spec"]["containers"][0]["command"]


def document(path):
    """The shell lines of a page that guard `whyoom run`."""
    (lines,) = (block for block in re.findall(r"^```sh\n(.*?)^```", text(path), re.M | re.S) if "whyoom run" in block)
    return ["sh", "-euc", lines.replace("CMD", "python train.py")]


# Command, and how often it starts a job that fails.
RECIPES = {
    "GitLab": (gitlab(), 1),
    "Jenkins": (jenkins(), 1),
    "Job": (container("job"), 1),
    "JobSet": (container("jobset"), 1),
    "Slurm": (["bash", INTEGRATIONS / "slurm/train.sbatch", "python", "train.py"], 1),
    "GitHub": (["bash", INTEGRATIONS / "github-action/scan.sh"], 1),
    "docs/jobs.md": (document("docs/jobs.md"), 1),
    "docs/ci.md": (document("docs/ci.md"), 3),
}


class BrokenWhyoomTest(unittest.TestCase):
    def run_recipe(self, command, tools, **env):
        """Returns the exit status and how often the job ran."""
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            (work / "tools").mkdir()
            for tool, script in {"python": f"echo ran >>runs; exit {STATUS}", "srun": '"$@"', "scontrol": "", **tools}.items():
                (work / "tools" / tool).write_text(f"#!/bin/bash\n{script}\n")
                (work / "tools" / tool).chmod(0o755)
            inputs = {"INPUT_" + key: value for key, value in
                      {"PATHS": "", "RUN": "python train.py", "ARGS": "", "FAIL": "true", "SARIF": "whyoom.sarif", "VERSION": "", "INSTALL": "",
                       "BINARY": "whyoom", "SOURCE_ROOT": "."}.items()}  # fmt: skip
            done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False,
                                  env={**os.environ, "PATH": f"{work}/tools:/usr/bin:/bin", "CI_PROJECT_DIR": name, "RUNNER_TEMP": name,
                                       "GITHUB_OUTPUT": f"{name}/output", "GITHUB_STEP_SUMMARY": f"{name}/summary", "WHYOOM_VERSION": "",
                                       "GITHUB_ACTION_PATH": str(INTEGRATIONS / "github-action"), "SLURM_JOB_ID": "7", **inputs, **env})  # fmt: skip
            runs = work / "runs"
            self.log = done.stdout + done.stderr
            return done.returncode, len(runs.read_text().split()) if runs.exists() else 0

    def test_the_job_runs_and_its_status_is_kept(self):
        for name, (command, runs) in RECIPES.items():
            for how, script in BROKEN.items():
                with self.subTest(recipe=name, whyoom=how):
                    tools = {} if how == "missing" else {"whyoom": script}
                    self.assertEqual(self.run_recipe(command, tools), (STATUS, runs), self.log)

    def test_the_job_runs_once_under_a_whyoom_that_works(self):
        works = 'while [ "$1" != -- ]; do shift; done; shift; echo started >>under; "$@"'
        for name, (command, runs) in RECIPES.items():
            with self.subTest(name):
                self.assertEqual(self.run_recipe(command, {"whyoom": works}), (STATUS, runs), self.log)

    def test_the_job_runs_if_no_program_can_be_downloaded(self):
        (name,) = {path.name for path in INTEGRATIONS.glob("get-*.sh")}
        for recipe in ("GitLab", "Jenkins", "Slurm"):  # the script is missing
            with self.subTest(recipe, script=name):
                self.assertEqual(self.run_recipe(RECIPES[recipe][0], {}, WHYOOM_VERSION="0.1.0"), (STATUS, 1), self.log)


if __name__ == "__main__":
    unittest.main()
