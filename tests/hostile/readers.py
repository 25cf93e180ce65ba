"""Reads reports as a terminal, a browser, GitHub's Markdown and runner, and parsers of XML and JSON do.

Each reader is a function of bytes that returns (structure, faults). The structure must equal that of a report that
differs only in harmless text. The faults are effects that no external text may have. READERS lists the readers; SKIPPED
names those whose tools are not installed.
"""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import unicodedata
import urllib.parse
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = {}

try:
    import pyte
    import wcwidth  # required by pyte
except ImportError:
    pyte = None
    SKIPPED["terminal"] = "no pyte"
try:
    import jsonschema
except ImportError:
    jsonschema = None
    SKIPPED["schemas"] = "no jsonschema"
CMARK = shutil.which("cmark-gfm")
if not CMARK:
    SKIPPED["markdown"] = "no cmark-gfm"
XMLLINT = shutil.which("xmllint")
if not XMLLINT:
    SKIPPED["xmllint"] = "no xmllint"

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Characters that a text page must not contain: control characters, and those that hide, reverse or break text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
UNSEEN = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]")


def characters(text, faults):
    for what, pattern in (("control character", CONTROL), ("invisible character", UNSEEN)):
        found = pattern.search(text)
        if found:
            faults.append(f"{what} U+{ord(found[0]):04X} in {text[max(0, found.start() - 30):found.end() + 30]!r}")


def decoded(data, faults):
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        faults.append(f"invalid UTF-8: {fault}")
        return data.decode(errors="replace")


class Recorder:
    """A proxy for pyte's screen that records every command except text, line ends and colors."""

    def __init__(self, screen, commands):
        self.screen, self.commands = screen, commands

    def __getattr__(self, name):
        act = getattr(self.screen, name)
        if name in ("draw", "linefeed", "select_graphic_rendition") or not callable(act):
            return act

        def noted(*arguments, **options):
            self.commands.append(f"{name}{arguments}")
            return act(*arguments, **options)

        return noted


def terminal(data):
    """Checks that a terminal shows the lines unchanged and executes nothing but colors."""
    structure, faults = plain_text(data)
    text = data.decode(errors="replace")
    if pyte:
        lines = COLOUR.sub("", text).split("\n")
        width = max(20, max(map(cells, lines)) + 1)
        if width * len(lines) <= 4_000_000:
            screen, commands = pyte.Screen(width, len(lines)), []
            screen.set_mode(pyte.modes.LNM)
            stream = pyte.Stream(Recorder(screen, commands))
            # pyte skips the rest of a line after characters without width.
            stream.feed("".join(c for c in text if c < "\xa0" or wcwidth.wcwidth(c) > 0 or unicodedata.combining(c)))
            faults += [f"the terminal executes {command[:80]}" for command in commands]
            for row, (shown, line) in enumerate(zip(screen.display, lines)):
                if plain(shown) != plain(line):
                    faults.append(f"line {row + 1} is shown as {plain(shown)[:80]!r}, not {plain(line)[:80]!r}")
                    break
    return structure, faults


def messages(data):
    """Checks messages of the command line."""
    faults = []
    characters(COLOUR.sub("", decoded(data, faults)), faults)
    return [], faults


def plain_text(data):
    """Checks text in a file, or in the log of a CI server."""
    faults = messages(data)[1]
    text = data.decode(errors="replace")
    return [], faults + [f"the CI server executes {command}" for command in runner_commands(text)[:1]]


def cells(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def plain(line):
    """Returns the line without characters of width 0, which not all screens keep."""
    return "".join(c for c in unicodedata.normalize("NFD", line) if not unicodedata.combining(c) and unicodedata.category(c) not in ("Mn", "Me", "Cf", "Cn")).rstrip(" \t\xa0")


KNOWN_COMMANDS = {"error", "warning", "notice", "debug", "group", "endgroup", "set-env", "set-output", "add-path", "add-mask", "save-state", "echo",
                  "add-matcher", "remove-matcher", "stop-commands", "internal-set-repo-path"}


def runner_commands(text):
    """Returns the commands that the runners of GitHub or Azure find in the output of a step: (name, properties, data)."""
    token, found = None, []
    for line in re.split("\r\n|\r|\n", text):
        command = runner_command(line, token)
        if command is None:
            continue
        if token is not None:
            token = None if command[0] == token else token
        elif command[0] == "stop-commands":
            token = command[2].lower()
            found.append(("stop-commands", (), ""))
        else:
            found.append(command)
    return found + [("stopped for good", (), token)] * (token is not None)


def runner_command(line, token):
    trimmed = line.lstrip()  # like .NET's TrimStart: all Unicode white space
    end = trimmed.find("::", 2)
    if trimmed.startswith("::") and end > 0:
        name, _, properties = trimmed[2:end].partition(" ")
        if name.lower() in KNOWN_COMMANDS or name.lower() == token:
            return name.lower(), tuple(p.partition("=")[0] for p in properties.split(",") if p), trimmed[end + 2 :]
    for begin in ("##[", "##vso["):
        at = line.find(begin)
        end = line.find("]", at)
        if at >= 0 and end > 0:
            name, _, properties = line[at + len(begin) : end].partition(" ")
            if begin == "##vso[" and token is None or name.lower() in KNOWN_COMMANDS or name.lower() == token:
                return name.lower(), tuple(p.partition("=")[0] for p in properties.split(";") if p), line[end + 1 :]
    return None


def github(data):
    """Checks the commands that GitHub's runner executes."""
    faults = []
    text = decoded(data, faults)
    characters(text, faults)
    return [(name, properties) for name, properties, _ in runner_commands(text)], faults


# Attributes whose values are whyoom's own, independent of the log.
OWN = {"href", "src", "srcset", "action", "formaction", "data", "style", "class", "rel", "type", "http-equiv", "content", "role", "scope", "name", "target"}
VOID = {"img", "br", "hr", "input", "meta", "link", "col", "area", "base", "embed", "source", "track", "wbr"}


def own(value):
    """Returns the value without parts that may differ: digests of failures, and links of rule files."""
    return re.sub("^#f-[0-9a-f]+$", "#", re.sub("^https://e[.]example/.*", "rule", value or "", flags=re.S))


class Elements(html.parser.HTMLParser):
    """Collects the elements of a page except <code>, the text outside of code, and scripts and styles."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.structure, self.prose, self.open, self.faults = [], [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        if tag != "code" or attributes:
            self.structure.append((tag, *((name, own(value) if name in OWN else None) for name, value in attributes if (tag, name) != ("code", "class"))))
        self.faults += [f"<{tag} {name}>" for name, value in attributes if name.startswith("on")]
        self.faults += [f"<{tag} {name}={value!r}>" for name, value in attributes
                        if value and name in ("href", "src", "action", "xlink:href") and re.match(r"\s*(javascript|vbscript)", value, re.I)]

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes what is not open")
        if tag != "code":
            self.structure.append("/" + tag)

    def handle_data(self, text):
        if "script" in self.open or "style" in self.open:
            self.structure.append(text)
        elif "pre" not in self.open and "code" not in self.open:
            self.prose.append(text)

    def handle_comment(self, text):
        if text.strip():  # empty comments precede an @
            self.structure.append(("comment", text))

    def handle_decl(self, text):
        self.structure.append(("declaration", text))

    unknown_decl = handle_decl

    def handle_pi(self, text):
        self.structure.append(("instruction", text))


# Text that GitHub turns into links, mentions and formulas, beyond the Markdown parser.
REFERENCES = re.compile(r"(?<![\w/`])@[A-Za-z0-9]|(?<!\w)#\d+|\b[A-Za-z]+-\d+\b|\b(?=[a-f0-9]*\d)[a-f0-9]{7,40}\b|\$|https?://|(?i:(?:^|(?<=[\s*_~(]))www\.)|\w@\w", re.M)


EMBEDDED = re.compile(r"(?<=<script type=\"application/json\" id=\"report\">).*?(?=</script>)|(?<=<script type=\"application/json\" id=\"texts\">).*?(?=</script>)", re.S)


def elements_of(page):
    elements = Elements()
    elements.feed(page)
    elements.close()
    elements.faults += [f"<{tag}> stays open" for tag in elements.open]
    return elements


def markdown(data):
    """Checks the page that GitHub's parser generates, including raw HTML."""
    faults = []
    text = decoded(data, faults)
    characters(text, faults)
    if not CMARK:
        return [], faults
    extensions = [part for name in ("table", "autolink", "strikethrough", "tasklist", "tagfilter", "footnotes") for part in ("-e", name)]
    page = subprocess.run([CMARK, "--unsafe", *extensions], input=data, capture_output=True, check=True).stdout.decode()
    elements = elements_of(page)
    prose = "\n".join(elements.prose)
    # References count as structure: the harmless report has none from a name.
    return elements.structure + sorted(REFERENCES.findall(prose)), faults + elements.faults


def page(data):
    """Checks an HTML page and the JSON in it, which its script draws."""
    faults = []
    text = decoded(data, faults)
    characters(text, faults)
    for content in EMBEDDED.findall(text):
        try:
            strict_json(content)
        except ValueError as fault:
            faults.append(f"invalid JSON: {fault}")
    elements = elements_of(EMBEDDED.sub("", text))
    return elements.structure, faults + elements.faults


def junit(data):
    faults = []
    characters(decoded(data, faults), faults)
    try:
        tree = xml.etree.ElementTree.fromstring(data)
    except xml.etree.ElementTree.ParseError as fault:
        return [], faults + [f"invalid XML: {fault}"]
    if XMLLINT:
        schema = ROOT / "tests" / "schemas" / "junit-10.xsd"
        checked = subprocess.run([XMLLINT, "--nonet", "--noout", *(["--schema", str(schema)] if schema.exists() else []), "-"], input=data,
                                 capture_output=True)
        if checked.returncode:
            faults.append("xmllint: " + checked.stderr.decode(errors="replace")[:200])
    return [(element.tag, *element.attrib) for element in tree.iter()], faults


def strict_json(text):
    def pairs(members):
        names = [name for name, _ in members]
        if len(set(names)) != len(names):
            raise ValueError(f"duplicate name in {names}")
        return dict(members)

    def constant(name):
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


PLACES = {"line", "last_line", "startLine", "endLine", "offset", "bytes", "seconds", "row_bytes", "fact_lines"}


def shape(value, name=""):
    """Returns the value with its texts replaced by their type, without fields that depend on text lengths."""
    if isinstance(value, dict):
        return {key: shape(member, key) for key, member in value.items() if key not in PLACES}
    if isinstance(value, list):
        return [shape(member) for member in value]
    return value if isinstance(value, (int, float, bool)) else type(value).__name__


VALIDATORS = {}


def against_schema(value, path):
    if not jsonschema or not path.exists():
        return []
    if path not in VALIDATORS:
        schema = json.loads(path.read_text())
        schema.pop("$id", None)  # a name, not an address; jsonschema before 4.18 would resolve it
        VALIDATORS[path] = jsonschema.validators.validator_for(schema)(schema)
    fault = next(VALIDATORS[path].iter_errors(value), None)
    return [f"schema {path.name}: {fault.json_path}: {fault.message[:120]}"] if fault else []


def one_json(data):
    """Returns the value, or None, and the faults of its encoding."""
    faults = []
    text = decoded(data, faults)
    characters(text, faults)
    try:
        return strict_json(text), faults
    except ValueError as fault:
        return None, faults + [f"invalid JSON: {fault}"]


def json_report(data, schema=ROOT / "docs" / "report.schema.json"):
    value, faults = one_json(data)
    if value is None:
        return [], faults
    return shape(value), faults + against_schema(value, schema)


def diff_report(data):
    return json_report(data, ROOT / "docs" / "diff.schema.json")


def ndjson(data):
    structure, faults = [], []
    if not data.isascii() or not data.endswith(b"\n"):
        faults.append("not ASCII lines")
    for line in data.decode(errors="replace").split("\n")[:-1]:
        try:
            value = strict_json(line)
        except ValueError as fault:
            faults.append(f"invalid JSON: {fault}")
            continue
        structure.append(shape(value))
        faults += against_schema(value, ROOT / "docs" / "report.schema.json")
    return structure, faults


def texts_of(value, name=""):
    if isinstance(value, dict):
        for key, member in value.items():
            yield from texts_of(member, key)
    elif isinstance(value, list):
        for member in value:
            yield from texts_of(member, name)
    elif isinstance(value, str):
        yield name, value


def sarif(data):
    value, faults = one_json(data)
    if value is None:
        return [], faults
    for name, part in texts_of(value):
        if name in ("text", "markdown") and re.search(r"(?<!\{)(?:\{\{)*\{\d+\}", part):
            faults.append(f"placeholder in {part[:80]!r}")
        if name == "text" and re.search(r"(?<!\\)\]\(", part):
            faults.append(f"link in {part[:80]!r}")
        if name == "uri":
            parts = urllib.parse.urlsplit(part)
            if parts.scheme not in ("", "file") or parts.netloc or not re.fullmatch(r"(?:%[0-9A-F]{2}|[A-Za-z0-9._~/-])*", part.removeprefix("file://")):
                faults.append(f"bad address {part[:80]!r}")
    bases = {base for run in value.get("runs", []) if isinstance(run, dict) for base in run.get("originalUriBaseIds", {})}
    faults += [f"unknown base {part[:80]!r}" for name, part in texts_of(value) if name == "uriBaseId" and part not in bases]
    return shape(without_bases(value)), faults + against_schema(value, ROOT / "tests" / "schemas" / "sarif-schema-2.1.0.json")


def without_bases(value):
    """Removes the bases of addresses, because a hostile name may be absolute and then has no base."""
    if isinstance(value, dict):
        return {key: without_bases(item) for key, item in value.items() if key not in ("uriBaseId", "originalUriBaseIds")}
    return [without_bases(item) for item in value] if isinstance(value, list) else value


READERS = {"text": plain_text, "colour": terminal, "markdown": markdown, "html": page, "github": github, "junit": junit, "json": json_report,
           "diff": diff_report, "ndjson": ndjson, "sarif": sarif, "messages": messages}


def check_readers():
    """Checks that each reader detects known faults; returns messages about those that do not."""
    report = b'{"runs":[{"message":{"text":"%s"},"uri":"%s"}]}'
    raw = [(terminal, b"a\n", [b"\x1b[2J\n", b"\x1b]52;c;eA==\x07\n", b"\x1b]0;x\x07", b"\x1bP1\x1b\\", b"\x9b31m", b"\xc2\x9b31m", b"a\rb", b"a\x08b", b"\x07",
                               "\u202ea".encode(), "\u200ba".encode(), b"\xff", b"\0", b"::error::x\n", "\u3000::error::x".encode(), b"a ##[group]x",
                               "\u2028::warning::x".encode(), b"##vso[task.x]y", b"\x1b[6n", b"\x1b[?1000h"]),
           (github, b"a\n", [b"::error::x\n", b"::group::x\n", b"a ##[add-path]x"]),
           (page, b"<p>a</p>", [b"<p><b>a</b></p>", b"<p>a</p", b"<p onclick='x'>a</p>", b"<p><a href='javascript:x'>a</a></p>", b"<p>a</i></p>"]),
           (junit, b"<testsuites/>", [b"<testsuites>]]></testsuites>", b"<testsuites><x/></testsuites>", b"<testsuites>&x;</testsuites>", b"\0"]),
           (json_report, b"{}", [b'{"a":1,"a":1}', b'{"a":NaN}', b'{"a":"\n"}', b'{"a":"\x1b"}', b'{"a":1}{}']),
           (ndjson, b"{}\n", [b"{}\n{}\n", '{"a":"é"}\n'.encode(), b'{"a":"\n"}\n', b"{}"]),
           (sarif, report % (b"a", b"a"), [report % pair for pair in ((b"[a](b)", b"a"), (b"{0}", b"a"), (b"a", b"javascript:a"), (b"a", b"//a/b"), (b"a", b"a b"), (b"a", b'a","uriBaseId":"X'))])]
    if CMARK:
        raw.append((markdown, b"- a\n", [b"- www.example.org\n", b"- http://example.org\n", b"- [a](b)\n", b"- ![a](b)\n", b"- <img>\n", b"- @octocat\n", b"- #12\n",
                                         b"- a\n- b\n", b"- # a\n", b"- `a\n\n</details>\n", b"- $a$\n", b"- a@b.org\n", b"- 0123abcd\n", b"- ```\n", b"- a[^1]\n\n[^1]: b\n"]))
    missed = []
    for reader, harmless, samples in raw:
        structure, faults = reader(harmless)
        if reader not in (junit, json_report, ndjson, sarif) and faults:
            missed.append(f"{reader.__name__} finds fault with {harmless!r}: {faults}")
        for sample in samples:
            other, more = reader(sample)
            if other == structure and set(more) <= set(faults):
                missed.append(f"{reader.__name__} passes {sample!r}")
    return missed
