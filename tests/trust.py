#!/usr/bin/env python3
"""Attacks whyoom with malicious inputs, measures their cost, and writes the table of docs/threat-model.md.

    tests/trust.py PROGRAM [--write docs/threat-model.md] [--attacks FOLDER] [--fuzzed build/fuzz/summary] [--quick]

Each input is read together with a log with a failure, which must be reported in any case. --attacks adds the files of
a folder. Then, unless --quick, runs the other attack scripts and adds up their tries. --fuzzed adds the results of
.ci/fuzz. Exit status 1: a promise is broken.
"""

import argparse
import gzip
import io
import json
import os
import pathlib
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
SECONDS = 60
MEBIBYTES = 256  # limit for the largest process; a decoder may use 128 of it


def tar_header(name, size, kind, prefix=b""):
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.USTAR_FORMAT)


def record(text):
    size = len(text) + 3
    while len(f"{size} {text}\n") != size:
        size += 1
    return f"{size} {text}\n".encode()


def padded(data):
    return data + b"\0" * (-len(data) % 512)


def sparse_tar(hole, text):
    extended = b"".join(map(record, ("GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=a.log", f"GNU.sparse.realsize={hole + len(text)}")))
    sparse_map = padded(f"1\n{hole}\n{len(text)}\n".encode())
    return (tar_header("x", len(extended), tarfile.XHDTYPE) + padded(extended) +
            tar_header("a.log", len(sparse_map) + len(text), tarfile.REGTYPE) + sparse_map + padded(text) + bytes(1024))


def sparse_map_tar(entries):
    numbers = ",".join("1,1" for _ in range(entries))
    extended = record(f"GNU.sparse.map={numbers}")
    return tar_header("x", len(extended), tarfile.XHDTYPE) + padded(extended) + tar_header("a.log", 5, tarfile.REGTYPE) + padded(b"text\n") + bytes(1024)


def zip_of(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def nested_zip(depth):
    data = b"text\n"
    for _ in range(depth):
        data = zip_of([("a.zip", data)])
    return data


def attacks(scratch):
    """Yields a description of each input and its path."""
    mebibyte = 1 << 20
    made = {
        "a sparse tar with a hole of a terabyte": sparse_tar(1 << 40, b"text\n"),
        "a sparse tar with a map of 30 million pieces": gzip.compress(sparse_map_tar(30_000_000), 1),
        "a zip of 4 GiB of zeros, deflated twice": gzip.compress(zip_of([("zeros", bytes(1 << 30)) for _ in range(4)]), 9),
        "a zip with a program of 2 GiB": zip_of([("prog", b"\x7fELF\2\1\1" + bytes((1 << 31) - 7))]),
        "a zip in a zip, 200 deep": nested_zip(200),
        "a zip of 100,000 empty members": zip_of([(f"{i}", b"") for i in range(100_000)]),
        "a line of 300 MB": b"Ran out of memo" * (20 * mebibyte),
        "a log of 20 MB that is full of near misses": b"RESOURCE_EXHAUSTED HBM memory allocate out of Ran out of\n" * 350_000,
    }
    for index, (what, data) in enumerate(made.items()):
        path = scratch / f"{index}.bin"
        path.write_bytes(data)
        yield what, path


def measure(command):
    """Returns the status, whether E1000 was reported, seconds, and MiB of the largest process."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:  # a separate process, so that its resource usage is separate from other runs
        os.close(read_end)
        start = time.monotonic()
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS)
            status, output = done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, output = None, ""
        seconds = time.monotonic() - start
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        found = "E1000" in output
        with os.fdopen(write_end, "w") as out:
            out.write(f"{status} {int(found)} {seconds} {memory}")
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as text:
        status, found, seconds, memory = text.read().split()
    os.waitpid(pid, 0)
    return status, found == "1", float(seconds), float(memory)


def good_log(scratch):
    path = scratch / "good.log"
    path.write_text("RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 17.91G of 15.48G hbm. "
                    "Exceeded hbm capacity by 2.43G.\n")
    return path


# The table's text and script for each group of results, by the part of their names before the dot.
HARM = {
    "damage": ("logs truncated at any byte, with flipped bits, and with shuffled, lost and doubled lines", "`tests/damage.py`"),
    "hostile": ("outputs with hostile texts in any field, checked with a terminal emulator, a Markdown renderer, parsers and schemas", "`tests/hostile/run.py`"),
    "kills": ("batches killed at any moment and resumed, with byte-identical reports", "`tests/faults/kills.py`"),
    "signals": ("runs ended by a signal, or by a reader that closed the pipe", "`tests/faults/times.py`"),
    "max_time": ("runs ended by `--max-time`", "`tests/faults/times.py`"),
    "disk": ("full disks and file size limits", "`tests/faults/disks.py`"),
    "change": ("inputs that are truncated, grow, rotate, vanish or fail while they are read", "`tests/faults/changes.py`"),
    "rights": ("missing permissions, descriptors, processes and streams", "`tests/faults/rights.py`"),
    "names": ("unusual names, links, devices and depths of file systems", "`tests/faults/names.py`"),
}


def bring_harm(program, scratch):
    """Runs the other attack scripts; returns the table rows and the number of broken promises."""
    commands = [[HERE / "damage.py", program, HERE.parent / "testdata"], [HERE / "hostile" / "run.py", program], [HERE / "faults" / "run.py", program]]
    results = {}
    for number, command in enumerate(commands):
        path = scratch / f"{number}.json"
        subprocess.run([sys.executable, *command, "--json", path], stdout=subprocess.DEVNULL)
        results.update(json.loads(path.read_text()) if path.exists() else {f"script {number}": {"tries": 0, "failed": 1}})
    rows, broken = [], 0
    for begin, (what, script) in HARM.items():
        of_it = [result for name, result in results.items() if name.split(".")[0] == begin]
        tries, failed = (sum(result[key] for result in of_it) for key in ("tries", "failed"))
        worst = max((result["worst_seconds"] for result in of_it if "worst_seconds" in result), default=None)
        broken += failed + (tries == 0)
        rows.append(f"| {what} | {script} | {tries:,} | {failed} | {'' if worst is None else f'{worst:.1f}'} |\n")
    return rows, broken


def fuzzed(path):
    done = [line.split("\t") for line in path.read_text().splitlines()]
    minutes = sum(int(seconds) for _, seconds, _, _ in done) / 60
    return (f"| generated inputs for {len(done)} fuzz targets, {minutes:.0f} minutes, no open crash | `.ci/fuzz` | {sum(int(runs) for _, _, runs, _ in done):,} | 0 | |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--attacks", type=pathlib.Path)
    parser.add_argument("--fuzzed", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    lines = ["| input, read together with a log with a failure | seconds | MiB, largest process | status |\n", "|---|---|---|---|\n"]
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        good = good_log(scratch)
        cases = list(attacks(scratch))
        if options.attacks:
            cases += [(f"`{path.name}`", path) for path in sorted(options.attacks.iterdir()) if path.is_file() and path.suffix in (".zst", ".tar")]
        for what, path in cases:
            status, found, seconds, memory = measure([options.program, str(good), str(path)])
            faults = [fault for fault, holds in (
                ("still running", status != "None"), ("status", status in ("1", "3")), ("the other log's report is missing", found),
                ("memory", memory <= MEBIBYTES)) if not holds]
            if faults:
                broken += 1
                print(f"{what}: {', '.join(faults)}", file=sys.stderr)
            lines.append(f"| {what} | {seconds:.1f} | {memory:.0f} | {status} |\n")
        if not options.quick:
            rows, more = bring_harm(options.program, scratch)
            broken += more
            lines += ["\n| attack | script | tries | broken | seconds, worst |\n", "|---|---|---|---|---|\n", *rows]
            if options.fuzzed:
                lines.append(fuzzed(options.fuzzed))
    table = "".join(lines)
    print(table, end="")
    if options.write:
        text = options.write.read_text()
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        options.write.write_text(text[:begin] + table + text[end:])
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
