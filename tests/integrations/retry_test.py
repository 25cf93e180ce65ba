"""Tests that the Kubernetes and Slurm integrations do not restart a job that would fail again:   retry_test.py WHYOOM

Runs the containers' commands, and evaluates podFailurePolicy as documented. srun and scontrol are stubs. Needs PyYAML.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

INTEGRATIONS = pathlib.Path(__file__).resolve().parents[2] / "integrations"
WHYOOM = os.path.abspath(sys.argv.pop(1))
RULES = {"format": "whyoom.rules/1", "failures": [
    {"code": f"my.{answer}", "title": answer, "category": "c", "phase": "run", "heads": [f"the pool will {answer} do"],
     "retry": {"answer": answer, "why": "It is so."}, "examples": [{"text": f"the pool will {answer} do"}]}
    for answer in ("never", "maybe")]}  # fmt: skip
NEVER = "echo the pool will never do; exit 3"
MAYBE = "echo the pool will maybe do; exit 3"


class Job(unittest.TestCase):
    """A folder in which `whyoom` uses the rules above, and `python` is a script of the test."""

    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.work = pathlib.Path(keep.name)
        (self.work / "tools").mkdir()
        (self.work / "rules.json").write_text(json.dumps(RULES))
        self.tool("whyoom", f'shift; exec "{WHYOOM}" run --rules "{self.work}/rules.json" --no-dump "$@"')
        self.env = {**os.environ, "PATH": f"{self.work}/tools:{os.environ['PATH']}"}

    def tool(self, name, script):
        path = self.work / "tools" / name
        path.write_text("#!/bin/bash\n" + script + "\n")
        path.chmod(0o755)

    def run_in(self, command, **env):
        return subprocess.run(command, cwd=self.work, env={**self.env, **env}, capture_output=True, text=True, check=False)


def pod_policy_action(job, status, disrupted=False):
    """Returns the action of the first rule in a Job's podFailurePolicy that matches a container's exit status."""
    for rule in job["podFailurePolicy"]["rules"]:
        codes = rule.get("onExitCodes")
        if codes:
            assert codes["operator"] == "In" and 0 not in codes["values"]
            if status in codes["values"]:
                return rule["action"]
        elif disrupted and any(condition["type"] == "DisruptionTarget" for condition in rule["onPodConditions"]):
            return rule["action"]
    return "Count"


class KubernetesTest(Job):
    def setUp(self):
        super().setUp()
        self.job = yaml.safe_load((INTEGRATIONS / "kubernetes" / "job.yaml").read_text())
        self.jobset = yaml.safe_load((INTEGRATIONS / "kubernetes" / "jobset.yaml").read_text())
        (self.replicated,) = self.jobset["spec"]["replicatedJobs"]
        self.specs = [self.job["spec"], self.replicated["template"]["spec"]]

    def status(self, spec, script):
        self.tool("python", script)
        (container,) = spec["template"]["spec"]["containers"]
        return self.run_in(container["command"]).returncode

    def test_manifests_have_the_required_fields(self):
        self.assertEqual((self.job["apiVersion"], self.job["kind"]), ("batch/v1", "Job"))
        self.assertEqual((self.jobset["apiVersion"], self.jobset["kind"]), ("jobset.x-k8s.io/v1alpha2", "JobSet"))
        for spec in self.specs:
            pod = spec["template"]["spec"]
            self.assertEqual(pod["restartPolicy"], "Never")
            names = [container["name"] for container in pod["containers"]]
            for rule in spec["podFailurePolicy"]["rules"]:
                if "onExitCodes" in rule:
                    self.assertIn(rule["onExitCodes"]["containerName"], names)

    def test_a_pod_that_would_fail_again_fails_the_job(self):
        for spec in self.specs:
            self.assertEqual(pod_policy_action(spec, self.status(spec, NEVER)), "FailJob")
            self.assertEqual(pod_policy_action(spec, self.status(spec, MAYBE)), "Count")
            self.assertEqual(pod_policy_action(spec, self.status(spec, "echo other; exit 1")), "Count")
            self.assertEqual(pod_policy_action(spec, self.status(spec, "echo the pool will never do; kill -TERM $$")), "Count")
        self.assertEqual(pod_policy_action(self.job["spec"], 143, disrupted=True), "Ignore")

    def test_the_jobset_fails_if_the_pod_policy_fails_its_job(self):
        (rule,) = self.jobset["spec"]["failurePolicy"]["rules"]
        self.assertEqual((rule["action"], rule["onJobFailureReasons"]), ("FailJobSet", ["PodFailurePolicy"]))
        self.assertRegex(rule["name"], r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
        job = self.replicated["template"]["spec"]
        self.assertEqual(job["backoffLimit"], 0)  # otherwise a single pod would be restarted
        fails = [rule for rule in job["podFailurePolicy"]["rules"] if rule["action"] == "FailJob"]
        self.assertEqual([rule["onExitCodes"]["values"] for rule in fails], [[42]])

    def test_help_documents_the_exit_status(self):
        text = self.run_in([WHYOOM, "run", "--help"]).stdout
        self.assertRegex(text, r"With --exit-retry, whyoom exits with STATUS\b")


class SlurmTest(Job):
    """The stub of srun runs four tasks and returns the highest status; the stub of scontrol logs its arguments."""

    def setUp(self):
        super().setUp()
        self.tool("srun", 'worst=0; for SLURM_PROCID in 0 1 2 3; do export SLURM_PROCID; "$@"; status=$?; '
                          '[ $status -le $worst ] || worst=$status; done; exit $worst')  # fmt: skip
        self.tool("scontrol", 'echo "$@" >>scontrol.log')
        text = (INTEGRATIONS / "slurm" / "train.sbatch").read_text()
        self.assertRegex(text, r"(?m)^#SBATCH --requeue$")

    def sbatch(self, script, **env):
        self.tool("python", script)
        ids = {"SLURM_JOB_ID": "77", "SLURM_SUBMIT_DIR": str(self.work), **env}
        done = self.run_in(["bash", str(INTEGRATIONS / "slurm" / "train.sbatch"), "python", "train.py", "--name", "two words"], **ids)
        log = self.work / "scontrol.log"
        asked = log.read_text() if log.exists() else ""
        log.unlink(missing_ok=True)
        self.assertEqual([path.name for path in self.work.glob(".fails-again*")], [])
        return done.returncode, asked

    def test_a_job_that_succeeds_is_not_requeued(self):
        self.assertEqual(self.sbatch('[ "$3" = "two words" ]'), (0, ""))

    def test_a_job_that_may_succeed_is_requeued_up_to_a_limit(self):
        self.assertEqual(self.sbatch(MAYBE), (3, "requeue 77\n"))
        self.assertEqual(self.sbatch("exit 1", SLURM_RESTART_COUNT="2"), (1, "requeue 77\n"))
        self.assertEqual(self.sbatch("exit 1", SLURM_RESTART_COUNT="3"), (1, ""))
        self.assertEqual(self.sbatch("exit 1", MOST_RESTARTS="0"), (1, ""))

    def test_a_job_that_would_fail_again_is_not_requeued(self):
        self.assertEqual(self.sbatch(NEVER), (42, ""))

    def test_one_task_that_would_fail_again_is_enough(self):
        self.assertEqual(self.sbatch(f"if [ $SLURM_PROCID = 1 ]; then {NEVER}; fi; kill -TERM $$"), (42, ""))

    def test_a_missing_command_is_an_error(self):
        done = self.run_in(["bash", str(INTEGRATIONS / "slurm" / "train.sbatch")], SLURM_JOB_ID="77")
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage", done.stderr)

    def test_the_readme_shows_the_tested_command(self):
        text = (INTEGRATIONS / "slurm" / "README.md").read_text()
        lines = re.findall(r"^sbatch (?:--\S+ )*train\.sbatch (.*)$", text, re.M)
        self.assertEqual(set(lines), {"python train.py"})


if __name__ == "__main__":
    unittest.main(verbosity=1)
