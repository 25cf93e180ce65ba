#!/usr/bin/env python3
"""Writes python/whyoom/records.py, the types of a report, from docs/report.schema.json.

  python3 tools/python_types.py [--check]     --check: write nothing, fail if it is outdated
"""

import json
import keyword
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs" / "report.schema.json"
MODULE = ROOT / "python" / "whyoom" / "records.py"
WIDTH = 120

HEAD = '''"""The records of a report. Made from docs/report.schema.json by tools/python_types.py; do not edit.

Each record is the dictionary that the program prints. Its fields are also attributes, which are None if unknown.
"""

from typing import Dict, List, Literal, Optional, Union

from ._record import Record
'''

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


class Types:
    def __init__(self, schema):
        self.definitions = schema["definitions"]
        self.classes = {}  # by name; a class precedes its users

    def class_name(self, definition):
        """Returns "Diagnosis" for "diagnosis". python/whyoom/_report.py derives the class Report from ReportFields."""
        name = "".join(part.capitalize() for part in definition.split("_"))
        return "ReportFields" if name == "Report" else name

    def is_record(self, node):
        return "properties" in node or "allOf" in node

    def type_of(self, node, owner, field):
        """Returns the annotation of a value and the record type inside it, if any."""
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            definition = self.definitions[name]
            if not self.is_record(definition):
                return self.type_of(definition, owner, field)
            return (self.add(name, definition),) * 2
        if self.is_record(node):
            return (self.add(f"{owner}_{field}", node),) * 2
        if "enum" in node:
            return f"Literal[{', '.join(json.dumps(value) for value in node['enum'])}]", None
        kinds = node.get("type")
        if isinstance(kinds, list):
            # A JSON number is an int or a float.
            names = [name for kind in kinds for name in (["int", "float"] if kind == "number" else [SCALARS[kind]])]
            return f"Union[{', '.join(names)}]", None
        if kinds == "array":
            inner, record = self.type_of(node["items"], owner, field)
            return f"List[{inner}]", record
        if kinds == "object":
            inner, record = self.type_of(node["additionalProperties"], owner, field)
            return f"Dict[str, {inner}]", record
        return SCALARS[kinds], None

    def add(self, definition, node):
        """Returns the name of a definition's class, and creates the class if necessary."""
        name = self.class_name(definition)
        if name in self.classes:
            return name
        base, required = "Record", set(node.get("required", ()))
        for part in node.get("allOf", ()):
            base = self.add(part["$ref"].rpartition("/")[2], self.definitions[part["$ref"].rpartition("/")[2]])
        lines, records, tables = [], {}, {}  # tables: fields with an object whose values are records
        for field, value in node.get("properties", {}).items():
            if keyword.iskeyword(field) or hasattr(dict, field):
                sys.exit(f"{SCHEMA.name}: {definition}.{field} is not a valid attribute name for a dictionary")
            annotation, record = self.type_of(value, definition, field)
            if record:
                (tables if annotation.startswith("Dict[") else records)[field] = record
            about = value.get("description", "")
            lines += [f"    # {line}" for line in textwrap.wrap(about, WIDTH - 6)]
            line = f"    {field}: {annotation if field in required else f'Optional[{annotation}]'}"
            lines += self.folded(line)
        text = [f"class {name}({base}):"]
        if node.get("description"):
            text += self.docstring(node["description"]) + [""]
        text += ["    __slots__ = ()"]
        for kind, inside in (("_records", records), ("_tables", tables)):
            if inside:
                inherited = f"**{base}.{kind}, " if base != "Record" else ""
                pairs = ", ".join(f'"{field}": {record}' for field, record in inside.items())
                text += self.folded(f"    {kind} = {{{inherited}{pairs}}}")
        text += lines
        self.classes[name] = "\n".join(text)
        return name

    def docstring(self, about):
        line = f'    """{about}"""'
        if len(line) <= WIDTH:
            return [line]
        return textwrap.wrap(f'"""{about}', WIDTH, initial_indent="    ", subsequent_indent="    ") + ['    """']

    def folded(self, line):
        """Splits a long line: the content of its first innermost brackets goes onto separate lines."""
        if len(line) <= WIDTH:
            return [line]
        end = min(at for at in (line.find("]"), line.find("}")) if at >= 0)
        begin = max(line.rfind("[", 0, end), line.rfind("{", 0, end)) + 1
        indent = " " * (len(line) - len(line.lstrip()))
        items = [f"{indent}    {item}," for item in line[begin:end].split(", ")]
        return [line[:begin], *items, indent + line[end:]]


def module_text():
    types = Types(json.loads(SCHEMA.read_text(encoding="utf-8")))
    types.add("report", types.definitions["report"])
    names = ", ".join(f'"{name}"' for name in types.classes)
    everything = "\n".join(types.folded(f"__all__ = [{names}]"))
    return "\n\n".join([HEAD, *(f"{one}\n" for one in types.classes.values()), f"{everything}\n"])


def main():
    text = module_text()
    if "--check" in sys.argv[1:]:
        if MODULE.read_text(encoding="utf-8") != text:
            sys.exit(f"{MODULE.relative_to(ROOT)} is outdated (made from {SCHEMA.name}): run tools/python_types.py")
    else:
        MODULE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
