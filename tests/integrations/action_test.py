"""Runs the steps of integrations/github-action like GitHub's runner:   action_test.py WHYOOM     (needs PyYAML)"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import yaml
from releases import VERSION, Server  # in this folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACTION = ROOT / "integrations" / "github-action"
CASES = ROOT / "testdata" / "cases"
WHYOOM = os.path.abspath(sys.argv.pop(1))
ADAM = (CASES / "compile-adam-state" / "log").read_text()


class Runner:
    """Runs a composite action like GitHub's runner: evaluates expressions, passes files to steps, parses commands."""

    def __init__(self, work):
        self.action = yaml.safe_load((ACTION / "action.yml").read_text())
        self.work = pathlib.Path(work)
        self.workspace = self.work / "work space"
        self.workspace.mkdir()
        (self.work / "temp").mkdir()
        self.action_repository = ""  # as for an action in the workflow's own repository
        self.environment = {}
        self.summary = self.work / "summary"
        self.summary.touch()

    def value(self, expression):
        name = expression.strip()
        if name == "github.workspace":
            return str(self.workspace)
        if name == "github.action_repository":
            return self.action_repository
        if name == "always()":
            return True
        if match := re.fullmatch(r"(.+?)\s*(==|!=)\s*'([^']*)'", name):
            return (self.value(match[1]) == match[3]) == (match[2] == "==")
        if match := re.fullmatch(r"inputs\.([\w-]+)", name):
            return self.inputs[match[1]]
        match = re.fullmatch(r"steps\.([\w-]+)\.outputs\.([\w-]+)", name)
        return self.outputs[match[1]].get(match[2], "")

    def text(self, text):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: self.value(match[1]), str(text))

    def holds(self, condition):
        return all(self.value(term) is True for term in condition.split("&&"))

    def run(self, **given):
        """Runs the action with these inputs. A "_" in a name stands for "-"."""
        given = {name.replace("_", "-"): value for name, value in given.items()}
        assert set(given) <= set(self.action["inputs"]), given
        self.inputs, self.outputs, self.used = {}, {}, []
        for name, declared in self.action["inputs"].items():
            self.inputs[name] = given.get(name, self.text(declared["default"]))
        self.status = 0
        for step in self.action["runs"]["steps"]:
            if self.status != 0 and "if" not in step or not self.holds(step.get("if", "always()")):
                continue
            if "run" in step:
                self.status = self.run_step(step) or self.status
            else:
                self.used.append((step["uses"], {name: self.text(text) for name, text in step["with"].items()}))
        self.result = {name: self.text(output["value"]) for name, output in self.action["outputs"].items()}
        return self.status

    def run_step(self, step):
        output = self.work / "output"
        output.write_text("")
        script = self.work / "step.sh"
        script.write_text(self.text(step["run"]))
        env = {**os.environ, **{name: self.text(text) for name, text in step.get("env", {}).items()}}
        env.update(GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(self.summary), GITHUB_WORKSPACE=str(self.workspace),
                   GITHUB_ACTION_PATH=str(ACTION), RUNNER_TEMP=str(self.work / "temp"), **self.environment)  # fmt: skip
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", script]  # as for "shell: bash"
        done = subprocess.run(command, cwd=self.workspace, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)  # fmt: skip
        self.log = done.stdout.decode("utf-8")
        self.commands = list(commands(self.log))
        self.outputs[step["id"]] = dict(line.split("=", 1) for line in output.read_text().split("\n") if line)
        return done.returncode

    def of(self, name):
        return [command for command in self.commands if command[0] == name]


def unescaped(text, codes="%25 %0D %0A".split()):
    for code in [*codes[1:], codes[0]]:
        text = text.replace(code, chr(int(code[1:], 16)))
    return text


def commands(log):
    """Yields (name, properties, message) of the commands "::x::" at the start of a line and "##[x]" anywhere."""
    stopped = None
    for line in re.split(r"\r\n|\n|\r", log):
        match = re.match(r"\s*::([\w-]+)(?: (.*?))?::(.*)", line) or re.search(r"##\[([\w-]+)(?: (.*?))?\](.*)", line)
        if stopped is not None:
            stopped = None if line.strip().lower() == f"::{stopped}::" else stopped
        elif match and match[1] == "stop-commands":
            stopped = match[3].lower()
        elif match:
            pairs = (pair.split("=", 1) for pair in (match[2] or "").split(",") if pair)
            codes = "%25 %0D %0A %3A %2C".split()
            yield match[1], {name: unescaped(text, codes) for name, text in pairs}, unescaped(match[3])


class ActionTest(unittest.TestCase):
    def setUp(self):
        self.keep = tempfile.TemporaryDirectory()
        self.addCleanup(self.keep.cleanup)
        self.runner = Runner(self.keep.name)
        self.workspace = self.runner.workspace

    def put(self, name, text):
        path = self.workspace / name
        path.write_text(text)
        return str(path)

    def run_action(self, **inputs):
        return self.runner.run(binary=inputs.pop("binary", WHYOOM), **inputs)

    def sarif(self):
        return json.loads((self.workspace / self.runner.result["sarif"]).read_text())

    def test_a_failure_in_a_log_is_annotated_and_fails_the_step(self):
        self.put("train.log", ADAM.replace("/home/user/train", str(self.workspace)))
        self.assertEqual(self.run_action(paths="train.log"), 1)
        (error,) = self.runner.of("error")
        self.assertEqual(error[1]["file"], "g_adam_state.py")
        self.assertRegex(error[1]["line"], r"^\d+$")
        self.assertIn("E1000.3", error[1]["title"])
        self.assertIn("258.10 MiB over the 15.75 GiB", error[2])
        self.assertEqual(self.runner.result, {"found": "1", "exit-status": "1", "sarif": "whyoom.sarif"})
        self.assertEqual([result["ruleId"] for result in self.sarif()["runs"][0]["results"]], ["E1000.3"])
        self.assertIn("E1000", self.runner.summary.read_text())
        self.assertEqual(self.runner.used, [])

    def test_a_log_without_a_failure_succeeds(self):
        self.put("train.log", "all is well\n")
        self.assertEqual(self.run_action(paths="train.log\n\n", upload_sarif="true"), 0)
        self.assertEqual(self.runner.of("error"), [])
        self.assertEqual(self.runner.result["found"], "0")
        ((action, given),) = self.runner.used
        self.assertRegex(action, "^github/codeql-action/upload-sarif@")
        self.assertEqual(given["sarif_file"], "whyoom.sarif")

    def test_the_sarif_file_is_uploaded_even_if_a_step_failed(self):
        self.put("train.log", ADAM)
        self.assertEqual(self.run_action(paths="train.log", upload_sarif="true", sarif="out put.sarif"), 1)
        self.assertEqual([given["sarif_file"] for _, given in self.runner.used], ["out put.sarif"])
        self.assertEqual(len(self.sarif()["runs"][0]["results"]), 1)

    def test_an_unreadable_input_is_a_warning_and_status_3(self):
        self.put("train.log", ADAM)
        self.assertEqual(self.run_action(paths="missing"), 3)
        self.assertEqual(self.runner.result["exit-status"], "3")
        self.assertIn("missing: no such file or folder", self.runner.of("warning")[0][2])
        self.assertEqual(self.run_action(paths="missing", fail="false"), 0)
        self.assertEqual(self.runner.result["exit-status"], "3")

    def test_fail_false_hides_failures_but_not_usage_errors(self):
        self.put("train.log", ADAM)
        self.assertEqual(self.run_action(paths="train.log", fail="false"), 0)
        self.assertEqual(self.runner.result["found"], "1")
        self.assertEqual(self.run_action(paths="train.log", fail="false", args="--no-such-option"), 2)

    def test_an_option_may_contain_blanks(self):
        self.put("train.log", ADAM)
        self.assertEqual(self.run_action(paths="train.log", args="--source-root\nmy sources\n--exit-zero"), 0)

    def test_a_command_that_fails_is_diagnosed(self):
        self.put("train.log", ADAM)
        run = "echo begun\ncat train.log | cat >&2\n(exit 7) | cat\necho not reached"
        self.assertEqual(self.run_action(run=run, upload_sarif="true"), 7)
        self.assertEqual(self.runner.result, {"found": "1", "exit-status": "7", "sarif": "whyoom.sarif"})
        self.assertIn("begun\n", self.runner.log)
        self.assertNotIn("not reached", self.runner.log)
        self.assertEqual(len(self.runner.of("error")), 1)
        self.assertEqual(len(self.runner.used), 1)

    def test_a_command_that_succeeds_leaves_an_empty_sarif(self):
        self.put("whyoom.sarif", '{"$schema": "sarif-schema-2.1.0.json", "of": "an earlier step"}')
        self.assertEqual(self.run_action(run="echo fine"), 0)
        self.assertEqual(self.runner.result, {"found": "0", "exit-status": "0", "sarif": "whyoom.sarif"})
        self.assertEqual(self.sarif()["runs"][0]["results"], [])

    def test_a_link_with_the_name_of_the_sarif_file_is_not_followed(self):
        self.put("train.log", ADAM)
        for target in (self.workspace / "victim", self.workspace / "missing"):
            self.put("victim", '{"$schema": "sarif-schema-2.1.0.json"}')
            (self.workspace / "whyoom.sarif").symlink_to(target)
            self.assertEqual(self.run_action(paths="train.log"), 2)
            self.assertIn("names a symbolic link", self.runner.of("error")[0][2])
            self.assertFalse((self.workspace / "missing").exists())
            self.assertEqual((self.workspace / "victim").read_text(), '{"$schema": "sarif-schema-2.1.0.json"}')
            (self.workspace / "whyoom.sarif").unlink()
        (self.workspace / "reports").symlink_to(self.runner.work / "temp")
        self.assertEqual(self.run_action(paths="train.log", sarif="reports/whyoom.sarif"), 2)
        self.assertEqual(self.run_action(paths="train.log", sarif=str(self.workspace / "reports/new/whyoom.sarif")), 2)
        self.assertEqual(list((self.runner.work / "temp").iterdir()), [])

    def test_secrets_in_shell_commands_appear_in_no_output(self):
        self.put("train.log", ADAM)
        self.assertEqual(self.run_action(run="MY_TOKEN=a1b2c3d4e5 cat train.log; exit 1"), 1)
        self.assertNotIn("a1b2c3d4e5", self.runner.log + (self.workspace / "whyoom.sarif").read_text() + self.runner.summary.read_text())
        self.assertIn("output line ", self.runner.of("error")[0][2])

    def test_if_whyoom_cannot_run_the_output_found_is_empty(self):
        self.put("train.log", ADAM)
        for status, level, inputs in ((1, "warning", {"run": "cat train.log; exit 1"}), (2, "error", {"paths": "train.log"})):
            with self.subTest(inputs):
                self.assertEqual(self.run_action(args="--ignore\nE1O02", upload_sarif="true", **inputs), status)
                self.assertEqual(self.runner.result, {"found": "", "exit-status": str(status), "sarif": ""})
                self.assertIn("each line is one word", self.runner.of(level)[0][2])
                self.assertEqual(self.runner.used, [])
        # If the job itself exits with 2, its output is diagnosed.
        self.assertEqual(self.run_action(run="cat train.log; exit 2"), 2)
        self.assertEqual(self.runner.result, {"found": "1", "exit-status": "2", "sarif": "whyoom.sarif"})

    def test_a_file_that_is_not_sarif_is_not_overwritten(self):
        self.put("train.log", ADAM)
        self.assertEqual(self.run_action(paths="train.log", sarif="train.log"), 2)
        self.assertEqual(len(self.runner.of("error")), 1)
        self.assertEqual(self.run_action(paths="train.log"), 1)

    def test_no_input_becomes_shell_code(self):
        for name in ("$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "-h", "--version", "%0A::error::x",
                     "a b  c", "*", "${HOME}", "::error::x", "\u00fc\u2028"):  # fmt: skip
            with self.subTest(name):
                self.put(name, ADAM)
                self.assertEqual(self.run_action(paths=name), 1)
                self.assertEqual(self.runner.result["found"], "1")
                self.assertEqual(len(self.runner.of("error")), 1)
                self.run_action(paths="missing", args=name, fail="false")
                self.assertLessEqual(len(self.runner.of("error")), 1)  # one if the argument is a path
                self.assertEqual(self.run_action(paths=str(self.workspace / name), sarif=str(self.workspace / name) + ".sarif"), 1)
                self.assertTrue(self.sarif()["runs"])
                (self.workspace / name).unlink()
        self.assertFalse((self.workspace / "pwned").exists())
        self.assertEqual(self.run_action(paths="x", sarif="a\nfound=9"), 2)
        self.assertEqual(self.runner.result["found"], "")

    def test_log_text_never_becomes_a_command(self):
        evil = ["::error::pwned", "##[error]pwned", "x ##[set-output name=found]9", "::add-path::/tmp", "::stop-commands::x", "::endgroup::",
                "\r::warning::pwned", "%0A::notice::pwned", "::set-env name=A::b"]  # fmt: skip
        self.put("train.log", ADAM)
        self.run_action(paths="train.log")
        names = sorted(command[0] for command in self.runner.commands)
        for text in evil:
            with self.subTest(text):
                for place in ("jit_adam_step", "f32[20,1024,8192]", "broadcast.25", "g_adam_state.py", "RESOURCE_EXHAUSTED: "):
                    self.put("train.log", ADAM.replace(place, place + text).replace("\n", f"\n{text}\n", 3))
                    self.run_action(paths="train.log")
                    self.assertEqual(sorted(command[0] for command in self.runner.commands), names, place)
        self.assertEqual(self.runner.result["found"], "1")

    def test_failures_beyond_the_limit_of_github_are_counted(self):
        for i in range(30):
            self.put(f"{i}.log", ADAM.replace("jit_adam_step", f"jit_{i}").replace("16.00G of", f"16.{i:02}G of"))
        self.assertEqual(self.run_action(paths="."), 1)
        self.assertEqual(self.runner.result["found"], "30")
        self.assertLessEqual(len(self.runner.of("error")), 10)
        self.assertIn("21 more", self.runner.of("error")[-1][2])

    def test_invalid_inputs_are_errors(self):
        for inputs in ({}, {"paths": "a", "run": "true"}, {"paths": "a", "binary": "no-such-whyoom\n::error::x", "required": "true"},
                       {"paths": "a", "sarif": ""}):
            with self.subTest(inputs):
                self.assertEqual(self.run_action(**inputs), 2)
                self.assertEqual(len(self.runner.of("error")), 1)

    def test_without_the_program_the_job_runs_and_there_is_one_warning(self):
        for job, status, inputs in ((5, "5", {"run": "touch ran; exit 5"}), (0, "", {"paths": "a"})):
            with self.subTest(inputs):
                self.assertEqual(self.run_action(binary="no-such-whyoom\n::error::x", **inputs), job)
                self.assertEqual([command[0] for command in self.runner.commands], ["warning"])
                self.assertEqual(self.runner.result, {"found": "", "exit-status": status, "sarif": ""})
        (self.workspace / "ran").unlink()
        self.assertEqual(self.run_action(run="touch ran", version=VERSION, sha256="0" * 64, releases="http://127.0.0.1:1"), 0)
        self.assertIn("cannot fetch", self.runner.of("warning")[0][2])
        (self.workspace / "ran").unlink()
        self.assertEqual(self.run_action(run="touch ran", binary="no-such-whyoom", required="true"), 2)
        self.assertFalse((self.workspace / "ran").exists())

    def test_patterns_are_expanded(self):
        (self.workspace / "logs" / "deep er").mkdir(parents=True)
        for name in ("logs/a.log", "logs/deep er/b c.log", "logs/note.txt"):
            self.put(name, ADAM.replace("jit_adam_step", f"jit_{len(name)}").replace("16.00G of", f"16.{len(name)}G of"))
        self.assertEqual(self.run_action(paths="logs/**/*.log"), 1)
        self.assertEqual(self.runner.result["found"], "2")
        self.assertEqual(self.run_action(paths="logs/*.csv"), 3)  # a name that does not exist

    def test_the_program_is_found_in_path(self):
        folder = self.workspace / "bin"
        folder.mkdir()
        shutil.copy(WHYOOM, folder / "whyoom")
        self.put("train.log", ADAM)
        before = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = f"{folder}:{before}"
        self.assertEqual(self.runner.run(paths="train.log"), 1)
        self.assertEqual(self.runner.result["found"], "1")

    def test_pip_installs_the_program(self):
        wheel = self.workspace / "whyoom-0.1.0-py3-none-any.whl"
        info = "whyoom-0.1.0.dist-info"
        files = {f"{info}/METADATA": "Metadata-Version: 2.1\nName: whyoom\nVersion: 0.1.0\n",
                 f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                 "whyoom-0.1.0.data/scripts/whyoom": f'#!/bin/sh\nexec {WHYOOM} "$@"\n'}  # fmt: skip
        files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
        with zipfile.ZipFile(wheel, "w") as packed:
            for name, text in files.items():
                member = zipfile.ZipInfo(name)
                member.external_attr = 0o100755 << 16
                packed.writestr(member, text)
        self.put("train.log", ADAM)
        self.assertEqual(self.run_action(paths="train.log", binary="no-such-whyoom", install=str(wheel)), 1, self.runner.log)
        self.assertEqual(self.runner.result["found"], "1")

    def get(self, server, **inputs):
        """Runs the action on a machine that has no whyoom except that of the release."""
        self.put("train.log", ADAM)
        self.runner.environment = {"no_proxy": "127.0.0.1", "RUNNER_TOOL_CACHE": str(server.cache), "GITHUB_SERVER_URL": server.address}
        given = {"paths": "train.log", "version": VERSION, "sha256": server.sum, "binary": "no-such-whyoom", **inputs}
        return self.run_action(**given)

    def test_the_program_of_a_release_is_downloaded_once(self):
        server = Server(self)
        self.assertEqual(self.get(server, releases=server.address), 1, self.runner.log)
        self.assertEqual(self.runner.result["found"], "1")
        self.assertEqual(self.get(server, releases="http://127.0.0.1:1"), 1, self.runner.log)
        self.assertEqual(len(server.asked), 1)  # the second run used the tool cache

    def test_releases_default_to_the_action_repository(self):
        server = Server(self, "OWNER/whyoom/releases/download/")
        self.assertEqual(self.get(server), 2)
        self.assertIn("WHYOOM_RELEASES is not set", self.runner.of("error")[0][2])
        self.runner.action_repository = "OWNER/whyoom"
        self.assertEqual(self.get(server), 1, self.runner.log)
        self.assertEqual(server.asked, [f"/OWNER/whyoom/releases/download/v{VERSION}/{server.name}"])

    def test_a_program_with_another_checksum_is_not_run(self):
        server = Server(self)
        server.put(b"#!/bin/sh\ntouch pwned\n")
        self.assertEqual(self.get(server, releases=server.address), 2)
        (error,) = self.runner.of("error")
        self.assertIn("has another checksum", error[2])
        self.assertEqual(self.runner.result["found"], "")
        self.assertEqual(self.get(server, releases=server.address, sha256=""), 2)
        self.assertEqual(self.get(server, releases=server.address, install="x"), 2)
        self.assertEqual(self.get(server, releases=server.address, version="$(touch pwned)\n::error::x"), 2)
        self.assertEqual(len(self.runner.of("error")), 1)
        self.assertEqual([path.name for path in self.workspace.iterdir()], ["train.log"])

    def test_shell_commands_contain_no_expressions(self):
        for step in self.runner.action["runs"]["steps"]:
            self.assertNotIn("${{", step.get("run", ""))
            self.assertTrue("uses" in step or step["shell"] == "bash")
        used = set(re.findall(r"inputs\.([\w-]+)", (ACTION / "action.yml").read_text()))
        self.assertEqual(used, set(self.runner.action["inputs"]))


if __name__ == "__main__":
    unittest.main()
