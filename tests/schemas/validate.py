#!/usr/bin/env python3
"""Validates whyoom's JSON outputs against the published schemas, and checks that the schemas reject wrong values:

  validate.py WHYOOM      needs python3-jsonschema
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = sorted((ROOT / "testdata/cases").glob("*/log"))
FLEET = "".join(
    f"[rank{rank}]: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. "
    "That was not possible. There are 6.43M free.\n"
    for rank in range(1500)
)
# By schema: places and values that it must reject.
WRONG = {
    "report": [
        (["schema"], "whyoom.report/2"),
        (["diagnoses", 0, "id"], "x"),
        (["diagnoses", 0, "where", "line"], "12"),
        (["diagnoses", 0, "remedies", 0, "safety"], "perfectly"),
        (["summary", "by_scenario"], {"E1000.2": 1}),
        (["summary", "first_time"], "yesterday"),
    ],
    "diff": [(["verdict"], "splendid")],
    "sarif": [
        (["version"], "2.0"),
        (["runs", 0, "results", 0, "level"], "fatal"),
        (["runs", 0, "results", 0, "occurrenceCount"], 0),
        (["runs", 0, "results", 0, "unknown"], 1),
        (["runs", 0, "tool", "driver", "rules", 0, "help"], {"markdown": "x"}),
    ],
}
faults = []
checked = dict.fromkeys(WRONG, 0)


def validator(name):
    path = ROOT / "tests/schemas/sarif-schema-2.1.0.json" if name == "sarif" else ROOT / f"docs/{name}.schema.json"
    schema = json.loads(path.read_text())
    schema.pop("$id", None)  # a name, not an address; jsonschema before 4.18 would resolve it
    return jsonschema.Draft7Validator(schema)


VALIDATORS = {name: validator(name) for name in WRONG}


def check(name, value, what):
    checked[name] += 1
    for error in VALIDATORS[name].iter_errors(value):
        faults.append(f"{what}: {name}: {list(error.absolute_path)}: {error.message[:200]}")


def check_rejections(name, value):
    for place, wrong_value in WRONG[name]:
        wrong = copy.deepcopy(value)
        part = wrong
        for step in place[:-1]:
            part = part[step]
        part[place[-1]] = wrong_value
        if VALIDATORS[name].is_valid(wrong):
            faults.append(f"{name}: accepts {wrong_value!r} at {place}")


def check_part(brief, report, place):
    """Brief JSON has some fields of the report, and the same values, except that long texts are cut."""
    if isinstance(brief, dict):
        for key, value in brief.items():
            if key in report:
                check_part(value, report[key], [*place, key])
            else:
                faults.append(f"--brief: {[*place, key]} is not in the report")
    elif isinstance(brief, list):
        for i, value in enumerate(brief):
            check_part(value, report[i], [*place, i])
    elif brief != report and not (isinstance(brief, str) and report.startswith(brief[:100])):
        faults.append(f"--brief: {place} differs from the report")


def check_outputs(binary, folder):
    def run(*arguments):
        return subprocess.run([binary, *arguments], cwd=folder, stdout=subprocess.PIPE, timeout=300).stdout

    (pathlib.Path(folder) / "fleet.log").write_text(FLEET)
    with open(f"{folder}/".encode() + b"fl\xffeet.log", "w") as file:
        file.write(FLEET)
    dump = ROOT / "testdata/programs/train-step/dump"
    inputs = [*map(str, CASES), str(dump), "fleet.log", b"fl\xffeet.log", "gone.log"]
    report = json.loads(run("--format", "json", *inputs))
    check("report", report, "--format json")
    check_rejections("report", report)
    for line in run("--format", "ndjson", *inputs).splitlines():
        check("report", json.loads(line), "--format ndjson")
    check_part(json.loads(run("--brief", "--format", "json", *inputs)), report, [])
    for path in CASES:
        check("sarif", json.loads(run("--format", "sarif", str(path))), path.parent.name)
    sarif = json.loads(run("--format", "sarif", *inputs))
    check("sarif", sarif, "--format sarif")
    check_rejections("sarif", sarif)
    for path in sorted((ROOT / "testdata/diffs").glob("*/expected.json")):
        diff = json.loads(path.read_text())
        diff["tool"] = {"version": "1", "rules": "0" * 64}  # recorded outputs mask these
        check("diff", diff, path.parent.name)
        check_rejections("diff", diff)


with tempfile.TemporaryDirectory() as scratch:
    check_outputs(str(pathlib.Path(sys.argv[1]).resolve()), scratch)
for name, count in checked.items():
    if count == 0:
        faults.append(f"no output was validated against the schema {name}")
print("\n".join([*faults[:50], f"{sum(checked.values())} outputs validated, {len(faults)} faults"]))
sys.exit(1 if faults else 0)
