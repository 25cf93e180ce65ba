#!/usr/bin/env python3
"""Writes a corpus with every Nth case of another one: sample.py CORPUS N FOLDER."""
import json, os, pathlib, sys

corpus, step, folder = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), pathlib.Path(sys.argv[3])
cases = [case for case in json.loads((corpus / "manifest.json").read_text())["cases"] if "dump" not in case][::step]
folder.mkdir(parents=True, exist_ok=True)
for case in cases:
    case["log"] = os.path.relpath(corpus / case["log"], folder.resolve())
(folder / "manifest.json").write_text(json.dumps({"cases": cases}))
print(f"{len(cases)} cases")
