#!/usr/bin/env python3
"""Reads an archive of logs on a Spark cluster: each task runs whyoom once for each batch of paths.

    spark-submit --files whyoom whyoom_spark.py LIST OUTPUT --partitions 400
    whyoom merge --format json OUTPUT/kind=records      # the report of one whyoom run over all of LIST

An input never makes the job fail. An input that cannot be read is a problem in the report. If a process crashes or needs
too long, each path of its batch gets its own process, so that only the bad paths are lost. The job fails only if every
input would fail, because the program is missing or cannot run with these options.
"""
import argparse
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import pandas
from pyspark import SparkFiles, cloudpickle
from pyspark.sql import DataFrame, SparkSession

# A row contains a line that whyoom printed (`record`), or describes a process: the number of its paths, its exit status
# (-N: ended by signal N) and the end of its standard error.
SCHEMA = "record string, inputs long, status int, stderr string"
SEPARATORS = {"lines": "\n", "null": "\0"}  # of the entries of a list
COULD_NOT_RUN = 2  # exit status: usage, or a bad rule file
STDERR_BYTES = 4096  # kept of each process

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # so that executors need no copy of this file


class Scanner:
    """Runs whyoom in a Spark task, on batches of entries of the list of paths."""

    def __init__(self, program, form, options, batch, timeout):
        self.program, self.form, self.options, self.batch, self.timeout = program, form, list(options), batch, timeout

    def __call__(self, frames):
        for entries in self.batches(frames):
            yield pandas.DataFrame(self.scan(entries), columns=["record", "inputs", "status", "stderr"])

    def batches(self, frames):
        """Yields at least one batch, so that there is a report even if there are no paths."""
        any_batch = False
        for frame in frames:
            entries = [bytes(entry) for entry in frame["entry"] if entry]
            for begin in range(0, len(entries), self.batch):
                any_batch = True
                yield entries[begin : begin + self.batch]
        if not any_batch:
            yield []

    def scan(self, entries):
        """Returns the rows of a batch."""
        records, status, stderr = self.run(entries)
        rows = [(None, len(entries), status, stderr)]
        if records is not None:
            return rows + [(record, None, None, None) for record in records]
        if not entries:
            raise RuntimeError(f"whyoom fails even without input: status {status}: {stderr.strip()}")
        if len(entries) > 1:
            return rows + [row for entry in entries for row in self.scan([entry])]
        return rows + [(record, None, None, None) for record in self.failed(entries[0], status, stderr)]

    def run(self, entries):
        """Returns the lines of a complete report (else None), the exit status, and the standard error."""
        # A task has one core; Spark starts as many tasks as there are cores.
        command = [find_program(self.program), "-j", "1", *self.options, "--files-from", "-"]
        command += ["-0"] * (self.form == "null") + ["--format", "ndjson", "--progress", "never", "--exit-zero"]
        end = SEPARATORS[self.form].encode()
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        late = ""
        try:
            out, err = process.communicate(b"".join(entry + end for entry in entries), timeout=self.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            late = f"stopped after {self.timeout:g} s"
        stderr = late or err[-STDERR_BYTES:].decode("utf-8", "backslashreplace")
        if process.returncode == COULD_NOT_RUN:
            raise RuntimeError(f"whyoom could not run: {stderr.strip()}")
        records = out.decode("ascii", "backslashreplace").splitlines()
        whole = not late and process.returncode == 0 and records and records[-1].startswith('{"type":"summary"')
        return records if whole else None, process.returncode, stderr

    def failed(self, entry, status, stderr):
        """Returns a report with one problem: whyoom failed on the path."""
        empty = [row[0] for row in self.scan([]) if row[0] is not None]
        summary = json.loads(empty[-1])
        summary["problem_count"] += 1
        why = stderr if stderr.startswith("stopped after") else end_text(status)
        problem = {"type": "problem", "path": path_of(entry, self.form).decode("utf-8", "replace"), "what": f"whyoom failed on this input: {why}"}
        return [*empty[:-1], json.dumps(problem), json.dumps(summary)]


def find_program(name):
    """Returns the program `name` that was shipped with the job (--files, addFile), else from PATH. A path is returned unchanged."""
    if "/" in name:
        return name
    shipped = SparkFiles.get(name)
    found = shipped if os.path.exists(shipped) else shutil.which(name)
    if found is None:
        raise RuntimeError(f"no program {name!r} on this machine (ship it with --files, or pass its path)")
    return found


def ship(spark: SparkSession, script: str) -> None:
    """Downloads the program of a release with get-whyoom.sh and its variables, and ships it with the job.

    The machines must be of the same kind as the driver.
    """
    folder = tempfile.mkdtemp(prefix="whyoom-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may fetch it until the job ends
    got = subprocess.run(["sh", script, folder], stdout=subprocess.PIPE, text=True, check=True)
    spark.sparkContext.addFile(got.stdout.rstrip("\n"))


def end_text(status):
    return f"ended by signal {-status}" if status < 0 else f"ended with status {status} and an incomplete report"


def path_of(entry, form):
    """Returns the path of an entry of a list, as bytes, as whyoom reads it."""
    return entry if form == "null" else entry.rstrip(b"\r")


def read_list(spark: SparkSession, path: str, form: str = "lines") -> DataFrame:
    """Returns the entries of a list of paths, for `scan`. Every byte of a name is preserved, because Spark does not decode them."""
    return spark.read.text(path, lineSep=SEPARATORS[form])


def scan(paths: DataFrame, partitions: int, *, program: str = "whyoom", form: str = "null", options=(),
         batch: int = 1000, timeout: float = 3600) -> DataFrame:  # fmt: skip
    """Returns rows of SCHEMA for the paths in the first column (string or binary), written as in a list of this form.

    whyoom runs with `options` on `batch` paths at once, for at most `timeout` seconds. `--max-time` in the options limits
    each input instead and loses less.
    """
    entries = paths.select(paths[paths.columns[0]].cast("binary").alias("entry"))
    return entries.repartition(partitions).mapInPandas(Scanner(program, form, options, batch, timeout), SCHEMA)


def write(rows: DataFrame, output: str) -> None:
    """Writes OUTPUT/kind=records, which `whyoom merge` reads, and OUTPUT/kind=processes, which describes how the processes ended."""
    rows.selectExpr(
        "coalesce(record, to_json(struct(inputs, status, stderr))) AS value",
        "if(record IS NULL, 'processes', 'records') AS kind",
    ).write.partitionBy("kind").text(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", help="the list of paths; each path must mean the same file on every machine")
    parser.add_argument("output", help="a folder that does not exist yet")
    parser.add_argument("--files-format", choices=SEPARATORS, default="lines", help="how the entries of LIST end (default: lines)")
    parser.add_argument("--partitions", type=int, default=200, help="number of tasks (default: 200)")
    parser.add_argument("--batch", type=int, default=1000, help="paths per process (default: 1000)")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds per process (default: 3600)")
    parser.add_argument("--program", default="whyoom", help="a path, or a name that was shipped with --files or is in PATH")
    parser.add_argument("--get", metavar="SCRIPT", help="download the program of a release with this get-whyoom.sh, and ship it")
    parser.add_argument("--option", action="append", default=[], help="an option for whyoom, for example --option=--max-time=60; may be repeated")
    given = parser.parse_args()

    spark = SparkSession.builder.appName("whyoom").getOrCreate()
    if given.get:
        ship(spark, given.get)
    paths = read_list(spark, given.list, given.files_format)
    rows = scan(paths, given.partitions, program=given.program, form=given.files_format, options=given.option,
                batch=given.batch, timeout=given.timeout)  # fmt: skip
    write(rows, given.output)
    spark.stop()


if __name__ == "__main__":
    main()
