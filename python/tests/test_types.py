"""The types of a report; the module must be valid in Python 3.9."""

import ast
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import whyoom
from whyoom import records

MODULE = Path(whyoom.__file__).parent
TOOL = MODULE.parents[1] / "tools" / "python_types.py"

USE = """
from typing import List, Optional
import whyoom
from whyoom.records import Remedy

report = whyoom.diagnose("text", framework="jax")
remedies: List[Remedy] = report.diagnoses[0].remedies
saved: Optional[int] = remedies[0].saves_bytes
old_way: str = report["diagnoses"][0]["code"]
text: str = report.to_text(color="always")
count: int = report.summary.by_scenario["E1000.2"].diagnoses
version: str = whyoom.__version__
"""


class Types(unittest.TestCase):
    @unittest.skipUnless(TOOL.is_file(), "not in a clone")
    def test_they_match_the_schema(self):
        done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_record_is_a_dictionary_with_attributes(self):
        report = records.ReportFields(
            {
                "diagnoses": [{"code": "E1000", "where": {"line": 3}, "later": 1}],
                "summary": {"by_scenario": {"E1000.2": {"diagnoses": 1}}, "problems": [{"what": "cut"}]},
            }
        )
        found = report.diagnoses[0]
        self.assertIs(type(found), records.Diagnosis)
        self.assertEqual((found.code, found["code"], found.where.line, found.scenario), ("E1000", "E1000", 3, None))
        self.assertEqual(found.later, 1)  # a field of a newer program
        self.assertEqual(report.summary.by_scenario["E1000.2"].diagnoses, 1)
        self.assertEqual(report.summary.problems[0].what, "cut")
        self.assertIn("remedies", dir(found))
        with self.assertRaisesRegex(AttributeError, "a Diagnosis has no field 'remedy'"):
            found.remedy
        with self.assertRaises(AttributeError):
            found.code = "E1001"

    def test_the_syntax_is_that_of_python_3_9(self):
        for path in MODULE.glob("*.py"):
            with self.subTest(path.name):
                tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
                self.check_annotations(path, tree)

    def check_annotations(self, path, tree):
        """X | Y may occur only in annotations, which are not evaluated."""
        futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        annotations = [getattr(node, "annotation", None) or getattr(node, "returns", None) for node in ast.walk(tree)]
        unions = [each for each in annotations if each is not None and "BitOr" in ast.dump(each)]
        self.assertTrue(futures or not unions, path.name)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_mypy_strict(self):
        with tempfile.TemporaryDirectory() as folder:
            use = Path(folder) / "use.py"
            bad = Path(folder) / "bad.py"
            use.write_text(USE)
            bad.write_text(USE + "report.diagnosis\nremedies[0].saves_bytes + 1\n")
            mypy = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={folder}/cache"]
            # If the module is not installed, mypy must find it where this process found it.
            path = {"MYPYPATH": str(MODULE.parent)} if "site-packages" not in MODULE.parts else {}
            run = {"capture_output": True, "text": True, "cwd": folder, "env": {**os.environ, **path}}
            done = subprocess.run([*mypy, "-p", "whyoom"], **run)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            done = subprocess.run([*mypy, "use.py"], **run)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            done = subprocess.run([*mypy, "bad.py"], **run)
            self.assertIn('"Report" has no attribute "diagnosis"', done.stdout)
            self.assertIn("Unsupported operand", done.stdout)


if __name__ == "__main__":
    unittest.main()
