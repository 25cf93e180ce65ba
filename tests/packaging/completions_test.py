#!/usr/bin/env python3
"""Tests the completion scripts in real shells: bash, zsh and fish must complete the same lines.

  tests/packaging/completions_test.py WHYOOM

tests/cli/completions_test.cc tests which words the program offers; this file tests that each shell requests and shows
them correctly. Shells that are not installed are skipped with a message.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

WHYOOM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
COMMANDS = [
    "",
    "run",
    "explain",
    "diff",
    "merge",
    "rules list",
    "rules check",
    "rules test",
    "rules schema",
    "rules trace",
    "completions",
    "skill",
]


def whyoom(*arguments):
    return subprocess.run([WHYOOM, *arguments], capture_output=True, text=True, check=True).stdout


def options_of(command):
    """Returns the options in the output of --help."""
    names = set()
    for line in whyoom(*command.split(), "--help").splitlines():
        entry = re.match(r"  (-[\w-]+)(?:,(-[\w-]+))?", line)
        names.update(name for name in (entry.groups() if entry else ()) if name)
    return names


class Shell:
    """The lines that all shells must complete alike; offered() returns the words that one shell offers for a line."""

    shell = ""

    @classmethod
    def setUpClass(cls):
        if not shutil.which(cls.shell):
            raise unittest.SkipTest(f"{cls.shell} is not installed")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.scratch.name)
        for name in ("train.log", "two words.log", "logs/inner.log", "bin/whyoom-test-tool"):
            path = cls.folder / "work" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o755)
        cls.work = cls.folder / "work"
        cls.environment = {
            "PATH": f"{os.path.dirname(WHYOOM)}:{cls.work / 'bin'}:/usr/bin:/bin",
            "HOME": cls.scratch.name,
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
        }
        cls.script = cls.folder / "script"
        cls.script.write_text(whyoom("completions", cls.shell))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def offered(self, line):
        raise NotImplementedError

    def check(self, line, *wanted):
        offered = {name.rstrip("/") for name in self.offered(line)}  # some shells show the slash only in the line
        self.assertEqual(offered, {name.rstrip("/") for name in wanted}, line)

    def test_each_command_offers_the_options_of_its_help(self):
        for command in COMMANDS:
            line = f"whyoom {command} -".replace("  ", " ")
            self.assertEqual(set(self.offered(line)), options_of(command), line)

    def test_commands_and_files_come_first(self):
        offered = set(self.offered("whyoom "))
        names = {name.split()[0] for name in COMMANDS if name}
        self.assertLessEqual(names, offered)
        self.assertIn("train.log", offered)
        self.assertNotIn("__complete", offered)
        self.check("whyoom rules ", "list", "check", "test", "trace", "schema")

    def test_values(self):
        self.check("whyoom --color ", "auto", "always", "never")
        self.check("whyoom --format j", "json", "junit")
        self.check("whyoom diff --format ", "text", "json")
        self.check("whyoom completions ", "bash", "zsh", "fish")
        self.check("whyoom explain E1000.2", "E1000.2")
        self.assertIn("donate_buffers", self.offered("whyoom explain "))
        self.check("whyoom --since ")

    def test_values_behind_an_equals_sign(self):
        self.check("whyoom --color=a", *self.behind("--color=", "auto", "always"))
        self.check("whyoom --format=js", *self.behind("--format=", "json"))
        self.check("whyoom --output=tr", *self.behind("--output=", "train.log"))
        self.check("whyoom --format markdown=tr", *self.behind("markdown=", "train.log"))
        self.check("whyoom --format=markdown=tr", *self.behind("--format=markdown=", "train.log"))

    def behind(self, prefix, *names):
        """Returns the names as this shell lists them after a prefix of the word."""
        return [prefix + name for name in names]

    def test_files_and_folders(self):
        self.check("whyoom --rules tr", "train.log")
        self.check("whyoom --xla-dump l", "logs/")
        self.check("whyoom --xla-dump tr")
        self.check("whyoom train.log logs/", "logs/inner.log")
        self.check("whyoom -- tr", "train.log")
        self.check("whyoom diff train.log train.log tr")

    def test_the_job_of_run(self):
        self.check("whyoom run whyoom-test-", "whyoom-test-tool")
        self.check("whyoom run --output x -- whyoom-test-", "whyoom-test-tool")
        self.check("whyoom run -- whyoom-test-tool tr", "train.log")
        self.check("whyoom run --keep", "--keep-dump")


class Fish(Shell, unittest.TestCase):
    shell = "fish"

    def offered(self, line):
        command = f"source {self.script}; complete -C {line!r}"
        done = subprocess.run(
            ["fish", "--no-config", "-c", command], capture_output=True, text=True, cwd=self.work, env=self.environment
        )
        self.assertEqual(done.stderr, "")
        return [entry.split("\t")[0] for entry in done.stdout.splitlines()]


class Bash(Shell, unittest.TestCase):
    """Calls the completion function as bash does; BashOnTerminal tests a few lines in bash itself."""

    shell = "bash"

    def behind(self, prefix, *names):
        return list(names)  # bash splits words at =

    def offered(self, line):
        words = [part for word in line.split(" ") for part in re.split(r"([=:]+)", word) if part or not word]
        calls = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
fallback=
compopt() { fallback=$2; }
_whyoom whyoom "${COMP_WORDS[COMP_CWORD]}" ''
current=${COMP_WORDS[COMP_CWORD]}
[[ $current == [=:]* ]] && current=
if ((${#COMPREPLY[@]} == 0)); then
  [[ $fallback == default ]] && mapfile -t COMPREPLY < <(compgen -f -- "$current")
  [[ $fallback == dirnames ]] && mapfile -t COMPREPLY < <(compgen -d -- "$current")
fi
((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
"""
        command = ["bash", "--norc", "-c", calls, "-", str(self.script), *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.work, env=self.environment)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()


class Terminal:
    """A shell on a terminal that receives keys."""

    def __init__(self, command, folder, environment):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execve(shutil.which(command[0]), command, environment)

    def send(self, keys):
        os.write(self.terminal, keys.encode())

    def read_to(self, end, seconds=20):
        """Returns the output up to and including `end`."""
        text, until = "", time.monotonic() + seconds
        while end not in text:
            if not select.select([self.terminal], [], [], max(0.0, until - time.monotonic()))[0]:
                raise AssertionError(f"no {end!r} in the output {text!r}")
            text += os.read(self.terminal, 65536).decode("utf-8", "replace")
        return text

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


class BashOnTerminal(unittest.TestCase):
    def setUp(self):
        Bash.setUpClass()
        self.addCleanup(Bash.tearDownClass)
        self.terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], Bash.work, Bash.environment)
        self.addCleanup(self.terminal.close)
        self.terminal.send(f"PS1=; source {Bash.script}; echo is-'ready'\n")
        self.terminal.read_to("is-ready")

    def test_a_tab_completes(self):
        for line, completed in (
            ("whyoom --fol", "whyoom --follow "),
            ("whyoom --format=js", "whyoom --format=json "),
            ("whyoom --output=tr", "whyoom --output=train.log "),
            ("whyoom --output=", "whyoom --output="),  # any file is possible
            ("whyoom --format markdown=tr", "whyoom --format markdown=train.log "),
            ("whyoom --xla-dump l", "whyoom --xla-dump logs/"),
            ("whyoom tw", "whyoom two\\ words.log "),
            ("whyoom run -- whyoom-test-t", "whyoom run -- whyoom-test-tool "),
            ("whyoom explain don", "whyoom explain donate_buffers "),
        ):
            # Turns the completed line into an argument of a command that prints it.
            self.terminal.send(f"{line}\t\x01shown '\x05'\n")
            self.assertIn(f"shown '{completed}'", self.terminal.read_to("not found"))


class Zsh(Shell, unittest.TestCase):
    """zsh completes only while it reads keys, so the setup writes its completions to a file."""

    shell = "zsh"

    def setUp(self):
        self.answer = self.folder / "answer"
        self.terminal = Terminal(["zsh", "-f", "-i"], self.work, self.environment)
        self.addCleanup(self.terminal.close)
        setup = self.folder / "setup"
        setup.write_text(
            f"""
PS1= PROMPT_EOL_MARK= LISTMAX=100000
autoload -Uz compinit && compinit -u -D
source {self.script}
compadd() {{
  if (( ! ${{@[(I)-[OAD]]}} )); then
    local -a kept hidden
    zparseopts -E -a ignored p:=hidden
    builtin compadd -O kept "$@"
    for each in $kept; do print -r -- "$IPREFIX${{hidden[2]}}$each" >> {self.answer}.part; done
  fi
  builtin compadd "$@"
}}
ask() {{
  : > {self.answer}.part
  zle list-choices
  print end >> {self.answer}.part
  mv {self.answer}.part {self.answer}
  BUFFER=
}}
zle -N ask
bindkey '^G' ask
print is-"ready"
"""
        )
        self.terminal.send(f"source {setup}\n")
        self.terminal.read_to("is-ready")

    def offered(self, line):
        self.answer.unlink(missing_ok=True)
        self.terminal.send(line + "\x07")
        until = time.monotonic() + 20
        while not self.answer.exists():
            self.assertLess(time.monotonic(), until, f"no answer to {line!r}")
            if select.select([self.terminal.terminal], [], [], 0.01)[0]:
                os.read(self.terminal.terminal, 65536)  # otherwise the shell would block
        return self.answer.read_text().splitlines()[:-1]


if __name__ == "__main__":
    missing = [shell for shell in ("bash", "zsh", "fish") if not shutil.which(shell)]
    for shell in missing:
        print(f"completions: SKIPPED for {shell}, which is not installed", file=sys.stderr)
    unittest.main(verbosity=2)
