"""Runs commands alone or in pairs. Returns their output, time and memory."""

import dataclasses
import json
import os
import shlex
import statistics
import subprocess
import tempfile

# All commands run in the C locale, in which grep is fastest.
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


@dataclasses.dataclass
class Run:
    status: int
    output: bytes
    peak_bytes: int  # of the largest process


@dataclasses.dataclass
class Pair:
    wall: tuple  # medians, in seconds
    cpu: tuple  # medians of user plus system time
    wall_ratio: float  # median of the rounds' ratios
    cpu_ratio: float


def run_once(command):
    """Runs a command once and returns its output and peak memory. This also warms the page cache."""
    with tempfile.NamedTemporaryFile("r") as peak:
        # Uses time(1): with wait4(), the kernel would count this Python process's memory as the child's.
        done = subprocess.run(
            ["/usr/bin/time", "--quiet", "-f", "%M", "-o", peak.name, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            check=False,
        )
        return Run(done.returncode, done.stdout, int(peak.read()) * 1024)


def run_pair(commands, rounds):
    """Times two commands alternately, A B A B, so that a machine that becomes slower affects both.

    CPU time is user and system time of the command and all its children.
    """
    times = []
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        for _ in range(rounds):
            # Output goes to a pipe, because grep stops at the first match if its output is /dev/null.
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
