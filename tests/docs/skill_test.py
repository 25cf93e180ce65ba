#!/usr/bin/env python3
"""Checks the skill file: its front matter, and the JSON keys, options and ids that it names.

  python3 tests/docs/skill_test.py build/release/whyoom

Its commands are tested with those of all documents (run_commands.py).
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "resources" / "SKILL.md"
WHYOOM = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "build/release/whyoom")
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())

# Words between backquotes that look like keys but are not, each with its meaning.
OTHERS = {
    "true": "a value",
    "false": "a value",
    "null": "a value",
    "jq": "a program",
    "fits": "a key of the short form",
    "unknown_error": "a kind of problem, which the schema describes in words",
}


def whyoom(*arguments):
    return subprocess.run([WHYOOM, *arguments], capture_output=True, text=True, check=True).stdout


def merged(node):
    """Returns the properties of a schema node, and whether it allows any name."""
    if "$ref" in node:
        return merged(SCHEMA["definitions"][node["$ref"].rpartition("/")[2]])
    properties, any_name = dict(node.get("properties", {})), "additionalProperties" in node
    for part in node.get("allOf", ()):
        more, also = merged(part)
        properties.update(more)
        any_name = any_name or also
    return (merged(node["items"]) if node.get("type") == "array" else (properties, any_name))


REPORT = {"$ref": "#/definitions/report"}
DIAGNOSIS = {"$ref": "#/definitions/diagnosis"}


def has_path(path, start):
    """Returns whether the schema has a.b[].c below `start`."""
    node = start
    for name in path.replace("[]", "").strip(".").split("."):
        properties, any_name = merged(node)
        if name not in properties:
            return any_name
        node = properties[name]
    return True


def known_words():
    """Returns all keys, the values of enumerations, and the names in the rule data."""
    keys, values = set(), set()

    def walk(node):
        if isinstance(node, dict):
            keys.update(node.get("properties", {}))
            values.update(each for each in node.get("enum", ()) if isinstance(each, str))
            for each in node.values():
                walk(each)
        elif isinstance(node, list):
            for each in node:
                walk(each)

    walk(SCHEMA)
    ids = set(re.findall(r"^\S+ ([\w.]+): ", whyoom("rules", "list"), flags=re.M))
    return keys, values, ids


def facts_of_goldens():
    """Returns the facts in the diagnoses of real logs."""
    seen = set()
    for path in sorted((ROOT / "testdata" / "cases").glob("*/expected.json")):
        report = json.loads(path.read_text())
        for found in report["diagnoses"] + report.get("programs", []):
            seen.update(found["facts"])
    return seen


class Skill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = SKILL.read_text(encoding="utf-8")
        begin, front, cls.body = re.split(r"^---\n", cls.text, maxsplit=2, flags=re.M)
        assert begin == ""
        cls.front = dict(line.split(": ", 1) for line in front.splitlines())

    def test_the_program_prints_the_file(self):
        self.assertEqual(whyoom("skill"), self.text)

    def test_the_front_matter_is_valid(self):
        self.assertEqual(set(self.front), {"name", "description"})
        self.assertEqual(self.front["name"], "whyoom")  # like its installation folder
        self.assertLessEqual(len(self.front["description"]), 1024)
        for value in self.front.values():  # plain YAML scalars
            self.assertNotRegex(value, r"^[\s\[\]{}&*!|>'\"%@`#,?:-]|: | #|[\s:]$")

    def test_it_is_short(self):
        self.assertLess(len(self.body.split()), 1200)

    def test_keys_in_jq_programs_are_in_the_schema(self):
        """Checks the names after dots, and the keys of objects that are built from names alone."""
        programs = re.findall(r"jq '([^']+)'", self.body)
        self.assertTrue(programs)
        keys, _, _ = known_words()
        facts = facts_of_goldens()
        for program in programs:
            for path in re.findall(r"(?<![\w\])])\.([a-z_]+(?:\.[a-z_]+)*)", program):
                for name in path.split("."):
                    self.assertIn(name, keys, program)
            bare = re.sub(r"\.[a-z_.]+(\[[^\]]*\]\??)?|[a-z_]+:", " ", program)
            for name in re.findall(r"[a-z_]{2,}", bare):
                self.assertTrue(name in keys or name in facts, f"{name} in {program}")

    def test_the_short_json_is_as_described(self):
        """Checks the keys of the short form that the file names, and its size."""
        described = re.search(r"^Each diagnosis is one line .*?\n\n", self.body, flags=re.M | re.S).group()
        command = re.search(r"^whyoom (--brief --format json) ", self.body, flags=re.M).group(1).split()
        named = set(re.findall(r"`([a-z_]+)`", described))
        definitions = json.loads((ROOT / "docs" / "report.schema.json").read_text())["definitions"]
        keys = set(definitions["diagnosis"]["properties"])
        self.assertGreater(len(named), 6)
        self.assertLessEqual(named, keys | set(definitions["remedy"]["properties"]))
        case = ROOT / "testdata" / "cases" / "dump-padded-points"
        short = whyoom("--exit-zero", *command, "--xla-dump", str(case / "dump"), str(case / "log"))
        whole = whyoom("--exit-zero", "--format", "json", "--xla-dump", str(case / "dump"), str(case / "log"))
        self.assertLess(len(short), 6000)  # 1,500 tokens of four bytes
        self.assertLess(len(short), len(whole) / 4)
        found, = json.loads(short)["diagnoses"]
        full, = json.loads(whole)["diagnoses"]
        self.assertLessEqual(set(found), keys)
        self.assertLessEqual(named - {"how", "source_lines"}, set(found))  # no sources are given
        self.assertEqual(found["remedies"][0]["how"], full["remedies"][0]["how"][:3])
        self.assertEqual(found["next"], full["next"])

    def test_each_word_of_code_exists(self):
        keys, values, ids = known_words()
        facts = facts_of_goldens()
        prose = re.sub(r"^ *```.*?^ *```", "", self.body, flags=re.M | re.S)
        words = re.findall(r"`([a-z_.\[\]]+)`", prose)
        self.assertGreater(len(words), 30)
        for word in words:
            if word in OTHERS or word in values or word in ids:
                continue
            in_report = has_path(word, REPORT) if word.startswith(".") else has_path(word, DIAGNOSIS)
            is_known = word in facts or (word in keys and "." not in word)
            self.assertTrue(in_report or is_known, word)


if __name__ == "__main__":
    unittest.main()
