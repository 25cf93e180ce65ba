"""Runs commands in pairs: what each prints and takes."""

import dataclasses
import json
import os
import shlex
import statistics
import subprocess
import tempfile

# One locale for all, and the one in which grep is fastest.
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


@dataclasses.dataclass
class Run:
    status: int
    output: bytes
    peak_bytes: int  # of the largest process


@dataclasses.dataclass
class Pair:
    wall: tuple  # medians, in seconds
    cpu: tuple  # the same of user and system time
    wall_ratio: float  # median of the rounds' ratios
    cpu_ratio: float


def run_once(command):
    """Runs a command to see that it works; also warms the cache."""
    with tempfile.NamedTemporaryFile("r") as peak:
        # time(1), as the kernel counts what this process itself takes for its children's.
        done = subprocess.run(
            ["/usr/bin/time", "--quiet", "-f", "%M", "-o", peak.name, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            check=False,
        )
        return Run(done.returncode, done.stdout, int(peak.read()) * 1024)


def run_pair(commands, rounds):
    """Times two commands in turn, A B A B, so that a machine that becomes slower does so for both.

    CPU time is user and system time of the command and all its children.
    """
    times = []
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        for _ in range(rounds):
            # Into a pipe: grep stops at the first match where it sees that its output goes to /dev/null.
            subprocess.run(
                [
                    "hyperfine",
                    "--shell=none",
                    "--runs=1",
                    "--ignore-failure",
                    "--output=pipe",
                    "--style=none",
                    "--export-json",
                    result,
                    *(shlex.join(command) for command in commands),
                ],
                check=True,
                env=ENVIRONMENT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            with open(result, encoding="utf-8") as file:
                times.append([(r["mean"], r["user"] + r["system"]) for r in json.load(file)["results"]])
    return Pair(
        tuple(statistics.median(r[i][0] for r in times) for i in (0, 1)),
        tuple(statistics.median(r[i][1] for r in times) for i in (0, 1)),
        statistics.median(a[0] / b[0] for a, b in times),
        statistics.median(a[1] / b[1] if b[1] else float("inf") for a, b in times),
    )
