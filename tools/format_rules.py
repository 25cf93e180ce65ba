#!/usr/bin/env python3
"""Formats the rule files: values that fit stay on one line, and no line is longer than 160 bytes.

  tools/format_rules.py [--check] [FILE ...]     (default: all files below rules/)

The first value of a list or object follows its bracket, and the last one precedes the closing bracket. Longer texts, patterns and expressions become arrays, which the loader joins with a blank or a line break. Text without blanks is
split into an array of pieces (rules/schema.json defines where that is allowed). The loaded data does not change. --check writes
nothing. The exit status is 1 if --check finds a file that is not formatted, or if a line cannot be made to fit.
"""
import argparse
import itertools
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 160
STEP = 1


def flat(value):
    return json.dumps(value, ensure_ascii=False)


def size(text):
    """Returns the length in bytes, the unit of WIDTH."""
    return len(text.encode())


def glued(item):
    return item if isinstance(item, str) else "".join(item)


class Layout:
    def __init__(self, schema):
        self.schema = schema

    def resolve(self, rule):
        while rule and "$ref" in rule:
            rule = self.schema["definitions"][rule["$ref"].rsplit("/", 1)[1]]
        return rule or {}

    def of_key(self, rule, key):
        rule = self.resolve(rule)
        inner = rule.get("properties", {}).get(key, rule.get("additionalProperties"))
        return inner if isinstance(inner, dict) else {}

    @staticmethod
    def about(rule):
        return " ".join([rule.get("description", ""), *rule.get("details", [])])

    def joint(self, rule):
        """Returns the separator that joins an array of strings to one text, or None if the strings are separate."""
        rule = self.resolve(rule)
        pieces = rule.get("items", {}).get("$ref") == "#/definitions/pieces"
        return None if not pieces else "\n" if "joined with line breaks" in self.about(rule) else " "

    def write(self, value, rule, indent, lead="", trail=""):
        """Returns the lines. `lead` precedes the value ('"key": '), `trail` follows it (',')."""
        joint = self.joint(rule)
        if joint is not None and isinstance(value, list):
            lines = [glued(item) for item in value]
            value = joint.join(lines) if joint == " " else lines  # wrapped again below
        if indent + size(lead) + size(flat(value)) + size(trail) <= WIDTH:
            return [" " * indent + lead + flat(value) + trail]
        if joint is not None and isinstance(value, str):
            value = self.wrapped(value, indent + size(trail)) if joint == " " else [value]
        if isinstance(value, dict):
            items = [(flat(key) + ": ", item, self.of_key(rule, key)) for key, item in value.items()]
            brackets = "{}"
        elif isinstance(value, list):
            items = [("", self.pieces(item, indent + size(trail), " ," if joint == "\n" else "|)") if joint else item, self.resolve(rule).get("items", {})) for item in value]
            brackets = "[]"
        else:
            return [" " * indent + lead + flat(value) + trail]
        parts = [self.write(item, inner, indent + STEP, key, "," if i + 1 < len(items) else brackets[1] + trail) for i, (key, item, inner) in enumerate(items)]
        start = " " * indent + lead + brackets[0]
        joined = start + parts[0][0].lstrip()
        if lead and (len(parts[0]) > 1 or size(joined) > WIDTH):
            return [start, *itertools.chain(*parts)]
        return [joined, *parts[0][1:], *itertools.chain(*parts[1:])]

    def wrapped(self, text, indent):
        """Splits `text` at blanks into strings that fit, but not at a blank to which an operator of a pattern applies."""
        parts = []
        for word in re.split(r"(?<![(\[|: ]) (?![?*+|)\] ,]|\{\d)", text):
            longer = parts[-1] + " " + word if parts else word
            if parts and indent + STEP + size(flat(longer)) + 1 <= WIDTH:
                parts[-1] = longer
            else:
                parts.append(word)
        return parts

    def pieces(self, text, indent, marks):
        """Returns `text` if it fits, else pieces of it, cut after the first of `marks` that occurs."""
        if indent + STEP + size(flat(text)) + 1 <= WIDTH:
            return text
        room = WIDTH - indent - 2 * STEP - len(',')
        pieces = []
        while text:
            end = len(text)
            while size(flat(text[:end])) > room:
                end -= 1
            if end < len(text):
                end = next((at + 1 for at in (text.rfind(mark, 0, end) for mark in marks) if at > 0), end)
            pieces.append(text[:end])
            text = text[end:]
        return pieces


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("files", type=pathlib.Path, nargs="*")
    args = parser.parse_args()
    schema = json.loads((ROOT / "rules/schema.json").read_text())
    files = args.files or sorted(path for path in (ROOT / "rules").rglob("*.json") if path.name != "schema.json")
    wrong = 0
    for path in files:
        text = path.read_text()
        lines = Layout(schema).write(json.loads(text), schema, 0)
        laid_out = "\n".join(lines) + "\n"
        for number, line in enumerate(lines, 1):
            if size(line) > WIDTH:
                print(f"{path.name}:{number}: {size(line)} bytes: {line.strip()[:80]}")
                wrong += 1
        if laid_out == text:
            continue
        if args.check:
            print(f"{path.name}: not formatted; run tools/format_rules.py")
            wrong += 1
        else:
            path.write_text(laid_out)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
