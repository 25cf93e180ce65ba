#!/usr/bin/env python3
"""Writes docs/rules-reference.md, the reference of rule files.

  tools/rules_reference.py [--check]

The texts are the titles and descriptions of the schema, which the program checks, and the details and examples of
docs/rules-details.json. With --check nothing is written; the exit status is 1 if the page is out of date.
"""
import argparse
import json
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "rules" / "schema.json"
DETAILS = ROOT / "docs" / "rules-details.json"
PAGE = ROOT / "docs" / "rules-reference.md"
WIDTH = 120
INDENT = 2

HEAD = """\
# Look up a key of a rule file

<!-- Made by tools/rules_reference.py from rules/schema.json and docs/rules-details.json; do not edit. -->

For people who write rule files. This page lists every section and key, with one example for each section.
[Write your own rules](../rules/README.md) is the tutorial; [Use expressions, patterns and names](rules-language.md)
describes the language of conditions and patterns.

A rule file is one JSON object. Each section is optional, any file may contain any section, and the order of entries
means nothing. A key is optional unless it is marked as required.
"""

NAMES = {
    "string": "text", "number": "number", "integer": "integer", "boolean": "true or false", "null": "null",
    "array": "list", "object": "object",
}  # fmt: skip
TYPES = ("text", "lines", "facts")  # definitions that the page uses as names of types and describes first


def anchor(title):
    """Returns the anchor that GitHub creates for a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def wrapped(text, first="", rest=""):
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def laid_out(value, indent=0):
    """Returns JSON on one line if it fits, else with one member or element per line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, (dict, list)) or indent + len(flat) <= WIDTH - 1:
        return flat
    pad = " " * (indent + INDENT)
    if isinstance(value, dict):
        inner = [f"{json.dumps(key)}: {laid_out(member, indent + INDENT)}" for key, member in value.items()]
    else:
        inner = [laid_out(element, indent + INDENT) for element in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n{pad}" + f",\n{pad}".join(inner) + f"\n{' ' * indent}{end}"


def add_details(schema, details):
    """Adds the details and examples of objects ("Sentence") and of their keys ("Sentence.text")."""
    known = set()

    def add(name, node):
        known.add(name)
        node.update({key: value for key, value in details.get(name, {}).items() if key != "about"})

    for title, owner in [("file", schema), *((node.get("title", name), node) for name, node in schema["definitions"].items())]:
        add(title, owner)
        for key, member in owner.get("properties", {}).items():
            add(f"{title}.{key}", member)
            for inner, node in member.get("properties", {}).items():
                add(f"{member['title']}.{inner}", node)
    if unknown := sorted(name for name, node in details.items() if name not in known and node.keys() != {"about"}):
        sys.exit(f"rules_reference.py: {DETAILS.name} is about keys that the schema lacks: {', '.join(unknown)}")


class Reference:
    def __init__(self, schema):
        self.definitions = schema["definitions"]
        self.sections = schema["properties"]
        self.shared = []  # definitions that have a heading of their own, in the order of their first use
        self.inlined = {self.name_of(section["items"]) for section in self.sections.values() if "$ref" in section.get("items", {})}

    @staticmethod
    def name_of(node):
        return node["$ref"].rsplit("/", 1)[1]

    def resolved(self, node):
        return self.definitions[self.name_of(node)] if "$ref" in node else node

    def is_shared(self, name):
        """Whether a definition gets a heading; a definition without a title only names a type."""
        return "title" in self.definitions[name]

    def type_of(self, node):
        if "$ref" in node:
            name = self.name_of(node)
            target = self.definitions[name]
            if self.is_shared(name):
                if name not in self.shared and name not in self.inlined:
                    self.shared.append(name)
                return f"[{target['title'].lower()}](#{anchor(target['title'])})"
            return name if name in TYPES else "text" if "string" in target["type"] else self.type_of(target)
        if "enum" in node:
            return ", ".join(f"`{word}`" for word in node["enum"])
        types = node.get("type", "object")
        if isinstance(types, list) and "items" in node:
            return "list: " + self.type_of(node["items"])
        if isinstance(types, list):
            return " or ".join(NAMES[one] for one in types)
        if types == "array":
            return "list: " + self.type_of(node["items"])
        if types == "object" and isinstance(node.get("additionalProperties"), dict) and "properties" not in node:
            return "object, for each name: " + self.type_of(node["additionalProperties"])
        return NAMES[types]

    def keys(self, node, prefix=""):
        """Returns the lines for the keys of an object. Keys of nested objects are written with a dot."""
        lines = []
        required = node.get("required", [])
        for key, member in node.get("properties", {}).items():
            needed = "required, " if key in required else ""
            lines.append(wrapped(f"- `{prefix}{key}` ({needed}{self.type_of(member)}): {self.text(member)}", rest="  "))
            lines += self.inner(member, f"{prefix}{key}")
        return lines

    def inner(self, member, path):
        if "$ref" in member:
            return [] if self.is_shared(self.name_of(member)) else self.inner(self.resolved(member), path)
        if "properties" in member:
            return self.keys(member, path + ".")
        for inside, mark in (("items", "[]"), ("additionalProperties", ".NAME" if path else "NAME")):
            node = member.get(inside)
            if isinstance(node, dict) and "$ref" not in node:
                return self.inner(node, path + mark)
        return []

    @staticmethod
    def text(node):
        return " ".join([node["description"], *node.get("details", [])]).replace("<head>", "`<head>`")

    def example(self, node):
        return [f"```json\n{laid_out(example)}\n```\n" for example in node.get("examples", [])[:1] if isinstance(example, (dict, list))]

    def patterns(self, node):
        texts = [example for example in node.get("examples", []) if isinstance(example, str)]
        return ["For example:\n", "\n".join(f"    {text}" for text in texts) + "\n"] if texts else []

    def section(self, name, node):
        entry = self.resolved(node["items"]) if "items" in node else node
        lines = [f"### {name}\n", wrapped(self.text(node)) + "\n"]
        if entry is not node and "title" in entry:
            lines.append(wrapped("Entry: " + self.text(entry)) + "\n")
        lines += self.example(entry) or self.example(node)
        keys = self.keys(entry) or self.inner(node, "") or self.values(node)
        return lines + (["\n".join(keys) + "\n"] if keys else [])

    def values(self, node):
        values = node.get("additionalProperties")
        return [f"Each value: {self.type_of(values)}."] if isinstance(values, dict) else []

    def shared_object(self, name):
        node = self.definitions[name]
        lines = [f"### {node['title']}\n", wrapped(self.text(node)) + "\n", *self.patterns(node)]
        keys = self.keys(node) or self.inner(node, "") or self.values(node)
        return lines + (["\n".join(keys) + "\n"] if keys else [])

    def page(self):
        general = {key: node for key, node in self.sections.items() if key in ("$schema", "$comment", "format")}
        types = [wrapped(f"- *{name}*: {self.text(self.definitions[name])}", rest="  ") for name in TYPES]
        lines = [HEAD, "## Types\n", "\n".join(types) + "\n", "## Sections\n"]
        lines += ["\n".join(self.keys({"properties": general, "required": ["format"]})) + "\n"]
        for name, node in self.sections.items():
            if name not in general:
                lines += self.section(name, node)
        lines += ["## Shared objects\n"]
        done = 0
        while done < len(self.shared):  # writing an object may add others
            lines += self.shared_object(self.shared[done])
            done += 1
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if the page is out of date")
    args = parser.parse_args()
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    add_details(schema, json.loads(DETAILS.read_text(encoding="utf-8")))
    page = Reference(schema).page()
    if not args.check:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.exit(f"rules_reference.py: {PAGE.relative_to(ROOT)} is out of date; run tools/rules_reference.py")


main()
