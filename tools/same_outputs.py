#!/usr/bin/env python3
"""Compares the outputs of two builds of whyoom byte by byte for every log. A refactoring must not change them.

  tools/same_outputs.py OLD NEW [--corpus ../shared/corpus ...]

Both builds read each log of testdata/cases and of the given corpora (folders with manifest.json), with its XLA dump if it has
one, in every format. They then read all logs together with one thread and with four, merge two parts, follow logs, and run
jobs that print logs. The fingerprint of the rule data is masked. Prints the command of each difference; exit status 1 if any.
"""
import argparse
import concurrent.futures
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


@functools.cache
def formats(binary):
    out = subprocess.run([str(binary), "__complete", "--format", ""], capture_output=True, check=True, text=True).stdout
    return [line.split("\t")[0] for line in out.splitlines()[1:]]  # the first line selects further completions, such as files


@functools.cache
def fingerprint(binary):
    """The fingerprint of the built-in rule data. Outputs contain all of it or its first twelve digits."""
    out = subprocess.run([str(binary), "--format", "json", "-"], input=b"", capture_output=True).stdout
    return json.loads(out)["tool"]["rules"].encode()


def masked(binary, out):
    return out.replace(fingerprint(binary), b"*").replace(fingerprint(binary)[:12], b"*")


def run(binary, args, stdin=b"", cwd=None):
    done = subprocess.run([str(binary), *map(str, args)], input=stdin, capture_output=True, timeout=300, cwd=cwd)
    out = done.stdout + b"\n-- stderr\n" + done.stderr.replace(str(binary).encode(), b"whyoom")
    return done.returncode, masked(binary, out)


def logs_of(corpora):
    for log in sorted(ROOT.glob("testdata/cases/*/log")):
        dump = log.parent / "dump"
        yield log, dump if dump.is_dir() else None
    for corpus in corpora:
        for case in json.loads((corpus / "manifest.json").read_text())["cases"]:
            yield corpus / case["log"], corpus / case["dump"] if case.get("dump") else None


def commands(old, corpora):
    """Yields (args, stdin) of all commands to compare."""
    logs = list(logs_of(corpora))
    for log, dump in logs:
        given = ["--xla-dump", dump.resolve()] if dump else []
        for form in formats(old):
            yield ["--format", form, *given, log.resolve()], b""
        if dump:
            yield ["--format", "json", dump.resolve()], b""
    for log, dump in logs[::10]:
        yield ["--format", "json", "-"], log.read_bytes()
        yield ["--follow", "-"], log.read_bytes()
        yield ["run", "--format", "json", "--", "cat", log.resolve()], b""
    paths = [log.resolve() for log, _ in logs]
    for form in formats(old):
        yield ["--format", form, "-j", "1", *paths], b""
        yield ["--format", form, "-j", "4", *paths], b""
    for i in range(0, len(paths) - 1, 20):
        yield ["diff", paths[i], paths[i + 1]], b""
    yield ["rules", "list"], b""
    yield ["rules", "test"], b""
    yield ["explain", "E1000"], b""


def merged(binary, corpora, folder):
    parts = []
    paths = [log.resolve() for log, _ in logs_of(corpora)]
    for i in range(2):
        part = folder / f"part{i}.ndjson"
        done = subprocess.run([str(binary), "--format", "ndjson", *map(str, paths[i::2])], capture_output=True, timeout=600)
        part.write_bytes(done.stdout)
        parts.append(part.name)
    return run(binary, ["merge", *parts], cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path, action="append", default=[])
    args = parser.parse_args()
    old, new = args.old.resolve(), args.new.resolve()
    every = list(commands(old, args.corpus))
    different = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (command, _), (before, after) in zip(every, pool.map(lambda c: (run(old, *c), run(new, *c)), every)):
            if before == after:
                continue
            different += 1
            print("differs:", " ".join(map(str, command))[:300])
    results = []
    for binary in (old, new):
        with tempfile.TemporaryDirectory() as folder:
            results.append(merged(binary, args.corpus, pathlib.Path(folder)))
    if results[0] != results[1]:
        different += 1
        print("differs: merge")
    print(f"{len(every) + 1} commands, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
