#!/usr/bin/env python3
"""Measures how long whyoom needs to end after SIGTERM while it has much to do.

    tests/interrupts.py build/release/whyoom [--most 3]

Each case runs far longer than the time before the signal. A case that ends earlier is reported and does not count.
Prints a table. Exit status 1: a case takes more than --most seconds. (The promise is one second on an idle machine.)
"""
import argparse
import bz2
import io
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HEADER = "0100 RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 2.00G. That was not possible. "
ROWS = "  1. Size: 1.00G\n     Operator: op_name=\"jit(f)/dot\"\n     Shape: f32[16384,16384]{1,0}\n     XLA label: fusion\n     ==========\n"
REPORT = ("RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm. "
          "Exceeded hbm capacity by 4.25G.\n\n  Largest program allocations in hbm:\n\n")


def inputs(folder):
    """Returns the name and the arguments of each case."""
    def write(name, data):
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(path)

    headers = write("headers.log", (HEADER * (24 << 20 >> 7))[: 24 << 20])
    json_line = write("json.log", '{"log": "' + (HEADER * (24 << 20 >> 7))[: 24 << 20] + '"}\n')
    escapes = write("escapes.log", ("\x1b[31m" + HEADER + "\\n\\t\x1b[0m") * 200000)
    rows = write("rows.log", REPORT + ROWS * 400000)
    failures = write("failures.log", "".join(f"job {i}\n{REPORT}{ROWS}\n" for i in range(60000)))
    bomb = write("zeros.bz2", bz2.compress(bytes(1 << 20)) * 40000)
    with tarfile.open(folder / "member.tar.gz", "w:gz", compresslevel=1) as tar:
        info = tarfile.TarInfo("train.log")
        data = (REPORT + ROWS * 400000).encode()
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    archive = str(folder / "member.tar.gz")
    fifo = str(folder / "fifo")
    os.mkfifo(fifo)
    job = write("job.py", f"import sys\nsys.stdout.write(open({failures!r}).read())\nsys.exit(1)\n")
    return [
        ("one line of headers", [headers]),
        ("one JSON record", [json_line]),
        ("one line of escapes", [escapes]),
        ("a report of many rows", [rows]),
        ("many failures", [failures]),
        ("a decompression bomb", ["--max-bytes", "1T", bomb]),
        ("a member of an archive", [archive]),
        ("rules trace", ["rules", "trace", headers]),
        ("a pipe without a writer", [fifo]),
        ("--follow", ["--follow", failures]),
        ("run, while it diagnoses", ["run", "--", sys.executable, job]),
    ]


def measure(program, arguments, wait):
    process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(wait)
        return None
    except subprocess.TimeoutExpired:
        pass
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--most", type=float, default=3, help="seconds")
    options = parser.parse_args()
    late = []
    measured = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in inputs(pathlib.Path(folder)):
            for wait in (0.5, 0.1):
                seconds = measure(options.program, arguments, wait)
                if seconds is not None:
                    break
            print(f"{name:28}", "ended before the signal" if seconds is None else f"{seconds:6.2f} s")
            measured += seconds is not None
            if seconds is not None and seconds > options.most:
                late.append(name)
    if late:
        print(f"more than {options.most} s: {', '.join(late)}")
    # On a very fast machine too few runs can be interrupted to measure anything.
    return 1 if late or measured < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
