#!/usr/bin/env python3
"""Compiles the XLA dumps of a folder with every change of `whyoom try`, and writes what each program then needs.

  tools/compile_remedies.py --bin build/release/whyoom --python venv/bin/python --reports DIR --out testdata/compiled_needs.json FOLDER...

Each FOLDER contains programs, each with a folder `dump`. The reports of `whyoom try` go to DIR; an existing report is not made
again, so an interrupted run can go on. The result is an object: for each program its "limit", "unchanged" need and
"changes" (setting: need), in bytes. tools/advice_table.py makes a table of it.
"""
import argparse
import glob
import json
import os
import subprocess
import sys


def report_of(options, dump, name):
    path = os.path.join(options.reports, name + ".json")
    if not os.path.exists(path):
        command = [options.bin, "try", dump, "--python", options.python, "--format", "json", "--output", path]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            print(f"{name}: {done.stderr.strip()}", file=sys.stderr)
            return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def needs(report):
    """Returns the needs of the program that was compiled; None if none was."""
    for finding in report["diagnoses"]:
        tried = finding.get("recompilation")
        if tried:
            changes = {each["setting"]: each["need_bytes"] for each in tried["attempts"] if "need_bytes" in each}
            return {"compiler": tried["compiler"], "limit": finding["facts"]["limit_bytes"], "stated": finding["facts"]["need_bytes"],
                    "unchanged": tried["unchanged_bytes"], "changes": changes}
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, help="the whyoom to use")
    parser.add_argument("--python", default="python3", help="the Python that has jax and libtpu")
    parser.add_argument("--reports", required=True, help="folder for the reports")
    parser.add_argument("--out", required=True, help="file to write")
    parser.add_argument("folder", nargs="+", help="folder of programs")
    options = parser.parse_args()
    os.makedirs(options.reports, exist_ok=True)
    found = {}
    for folder in options.folder:
        for dump in sorted(glob.glob(os.path.join(folder, "*", "dump"))):
            if glob.glob(os.path.join(dump, "*", "module.mlir")):
                name = os.path.basename(os.path.dirname(dump))
                report = report_of(options, dump, name)
                if report and needs(report):
                    found[name] = needs(report)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
