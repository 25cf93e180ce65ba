"""Hostile texts, and inputs that contain them in every field: logs, dumps, archives, lists, parts and rule files."""

import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAYLOADS = [text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text for text in (
    # Terminals: sequences that are complete, truncated, nested, or spelled out.
    "\x1b[2J\x1b[31mred\x1b[0m", "\x1b[6n\x1b[c", "\x1b[?1000h\x1b[?25l", "\x1b]8;;http://e.example/\x1b\\link\x1b]8;;\x1b\\", "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;owned\x07", "\x1b]0;owned", "\x1bP$q\"p\x1b\\", "\x1b_Gf=1;AAAA\x1b\\", "\x1b[\x1b[0m2J", "\x1b\0[2J", "\x1b", "\u009b31m\u009d0;t\u009c", b"\x9b31m\x9d0;t\x07",
    "[31m[2J", "\\x1b[31m\\u001b[2J\\033]0;x\\007", "&#27;[2J&#x9b;31m&#8238;", "\rowned", "abc\x08\x08\x08xyz", "\a\v\f\x7f", "\0", "\u202eevil\u2066x\u2069", "\u200f\u061c",
    "a\u200bb\u200cc\u200dd\ufeffe\u2060f", "a\u00adb\U000e0041", b"\xff\xfe\xc3(\xed\xa0\x80\xf8", b"\xc0\xaf\xf4\x90\x80\x80", "\ufffe\uffff\U0001fffe", "a\u2028b\u2029c\u0085d",
    # CI servers.
    "::error::x", "::set-env name=A::b", "##[group]x", "##[add-path]/x", "##vso[task.setvariable variable=a]b", "::stop-commands::x", "\u3000::error::x", "\u00a0::notice::x",
    "%0A::error::x", "\n::warning::x", "a,line=1::x", "#\\#[error]x", "\n\n##[error]x\n",
    # HTML.
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "</title></style></script><svg/onload=alert(1)>", "<!--", "<![CDATA[", "<?php x",
    "javascript:alert(1)", "&lt;b&gt;&amp;&copy;", "&#60;img src=x&#62;", "</code><b>", "</details></summary>", "<details open>", "<a href=//e.example>x</a>",
    # Markdown.
    "[a](http://e.example)", "![i](http://e.example/i.png)", "http://e.example/x", "www.e.example", "WWW.e.example/~a", "mailto:a@e.example", "a@e.example", "<http://e.example>",
    "ftp://e.example/x", "xmpp:a@e.example", "[r]: http://e.example", "|a|b|", "\\|", "|---|", "`x`", "``", "\n```\nx\n", "~~~", "~~s~~ **b** __c__ *d*", "# h", "\n# h\n", "===", "\n---\n", "1. l", "1) l",
    "- [x] t", "+ p", "> q", "[^1]", "\n[^1]: foot", "@octocat", "#123", "o/r#5", "GH-9", "deadbeefcafe1234", "$x^2$", "$$x$$", "a\\`b", "&#96;", "    code", "\ta", "* * *", "(@a)", "\"@a", "a:@b",
    "`|`<b>", "\\", "_@a_", "http\u200b://e.example", "!", ".www.e.example", "x.(http://e.example)", "'http://e.example'", "\u00e9@octocat", "\u00a0@octocat", "x\u00a0#12", "\u2014@octocat", "1/#12",
    # XML, JSON, SARIF, templates, the shell.
    "]]>", "&xxe;", "<!DOCTYPE a [<!ENTITY x 'y'>]>", "&#0;", "\",\"x\":\"", "\\\"", "\\u0022", "\\ud800", "{\"a\":1}\n{", "{0}", "{{0}}", "{code|size}", "{{x}}", "${{ secrets.A }}", "%s%n%1$n",
    "[t](1)", "] (1)", "'; touch x; '", "$(id)`id`", "\\'", "\n'", "!!", "../../../etc/passwd", "//e.example/x", "file:///x", "C:\\x",
    # Long texts.
    b"x" * 100_000, b"|" * 3000, b"`" * 500, b"(" * 3000, b"<b>" * 1000, b"[" * 2000, "\u202e".encode() * 2000, b"a " * 20_000, "\u0301".encode() * 300, b"\x1b[" * 3000, b"&#x1b;" * 300, b"@a " * 300)]


class Texts:
    """Generates the text of each field: payloads of the round, or only letters if the field is in `harmless`."""

    def __init__(self, turn=None, rounds=1, harmless=(), fields=None):
        self.turn, self.rounds, self.harmless = turn, rounds, harmless
        self.fields = fields if fields is not None else {}  # the mark of each field, by name

    def __call__(self, name, place="line"):
        index = list(self.fields).index(name) if name in self.fields else len(self.fields)
        mark = self.fields.setdefault(name, b"qz%sqz" % b"".join(b"%c" % (97 + int(digit)) for digit in f"{index:03d}"))
        if self.turn is None or name in self.harmless:
            return b"%s is here" % mark if place in ("line", "any") else b"x%sx" % mark
        # One payload before the mark and one after it.
        at = self.turn + self.rounds * index
        first, second = PAYLOADS[at % len(PAYLOADS)], PAYLOADS[(at + len(PAYLOADS) // 2) % len(PAYLOADS)]
        if len(first) > 400:
            first, second = b"", first
        text = first + b" " + mark + second if place not in ("word", "token") else first + mark + second
        return PLACES[place](text)


def name_of(text):
    text = text.replace(b"/", b"\xe2\x88\x95").replace(b"\0", b"")
    mark = re.search(rb"qz[a-j]+qz", text)
    return text[: max(mark.end(), 180)][-200:] if mark else text[:200]


# How a text is adapted to the kind of field that contains it.
PLACES = {
    "line": lambda text: text.replace(b"\n", b" "),
    "quoted": lambda text: text.replace(b"\n", b" ").replace(b'"', b'\\"'),
    "word": lambda text: re.sub(rb"\s", b"_", text)[:190].replace(b"]", b")"),
    "token": lambda text: re.sub(rb"\.+", b".", re.sub(rb"[^\w$<>.-]", b"", text)).strip(b".")[-300:],  # characters of names
                                                                                                        # in logs
    "name": name_of,
    "member": lambda text: text.replace(b"\0", b"")[:3000],
    "any": lambda text: text,
}


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members:
            info = zipfile.ZipInfo("x")
            info.filename = name.decode("utf-8", "replace") or "x"
            archive.writestr(info, data)
    return out.getvalue()


class Scenes:
    """Each method is a scene: it writes files to the current folder and returns the arguments for whyoom."""

    def __init__(self, program, cases):
        self.program, self.cases = program, cases

    def log(self, case):
        return (self.cases / case / "log").read_bytes()

    def padded(self, say, tag=""):
        log = self.log("compile-padded-points")
        for old, new in ((b'op_name="pts"', b'op_name="%s"' % say(f"{tag}op name", "quoted")), (b"rotate_tracks)/", b"%s)/" % say(f"{tag}module", "token")),
                         (b'source_file="/home/user/train/d_points_n2.py"', b'source_file="/home/%s.py"' % say(f"{tag}source file", "quoted")),
                         # Short enough not to be truncated, because SARIF does not use a truncated path.
                         (b'File "/home/user/train/d_points_n2.py", line 36, in main', b'File "/home/%s.py", line 36, in main' % say(f"{tag}path in a traceback", "quoted")[:200]),
                         (b"Shape: bf16[10889216,2,2]{1,2,0:T(2,128)(2,1)}", b"Shape: %s" % say(f"{tag}shape")), (b"copy.remat2 = ", b"%s = " % say(f"{tag}XLA label")),
                         (b"bf16[10889216,4,2]{1,2,0:T(2,128)(2,1)}\n", b"(bf16[10889216,4,2]{1,2,0:T(2,128)(2,1)}, %s\n" % say(f"{tag}shape of a tuple")),
                         (b"Allocation type: HLO temp\n     ==========================\n\n  2.", b"Allocation type: %s\n\n  2." % say(f"{tag}kind of an allocation")),
                         (b"jax.errors.JaxRuntimeError: RES", b"%s: RES" % say(f"{tag}exception"))):
            assert old in log, old
            log = log.replace(old, new, 1)
        return log

    def logs(self, say):
        """Logs in a folder, a tar and a zip, in name order; only three failures, so each is printed in full."""
        folder = b"a" + say("name of a folder", "name")
        os.mkdir(folder)
        names = [folder, b"b" + say("name of a tar", "name") + b".tar", b"c" + say("name of a zip", "name") + b".zip"]
        settings = b"Config param remat_policy: %s\nTrainer(gradient_checkpointing='%s')\n" % (say("a setting", "token"), say("another setting", "token"))
        write(folder + b"/" + say("name of a file", "name"), b"python3 -m maxtext.trainers.pre_train.train base.yml\n" + settings + self.padded(say))
        program = self.log("program-too-large").replace(b"'jit_train_step'", b"'jit_%s'" % say("program", "token")).replace(b"unknown..", say("scope") + b"..")
        write(names[1], tar_of([(b"m" + say("member of a tar", "member"), program)]))
        hosts = self.log("buffer-eight-hosts").replace(b"[rank0] ", b"[pod/%s] " % say("pod", "word"))
        hosts = hosts.replace(b"/home/user/train/restore.py", b"/home/%s.py" % say("path of a host", "quoted")) + b"OtherError: out of memory " + say("exception of a host") + b"\n"
        write(names[2], zip_of([(b"m" + say("member of a zip", "member"), hosts)]))
        return ["--", *names]

    def names(self, say):
        """One log with a hostile path."""
        folder, file = say("name in front", "name"), say("name of the file", "name")
        os.mkdir(folder)
        write(folder + b"/" + file, self.log("compile-debug-callback"))
        return ["--", folder]

    def many(self, say):
        """Names at the beginning of a line. They change the order of the logs, so reports are not compared."""
        names = [say(f"name {i} of many", "name") for i in range(20)]
        for i, name in enumerate(names):
            write(name, b"" if i % 2 else b"OtherError: RESOURCE_EXHAUSTED: out of memory %d\n" % i)
        os.mkdir("not here")
        return ["--xla-dump", "not here", "--", *(name + b"/x" * (i % 2) for i, name in enumerate(names))]

    def member(self, say):
        """One log in a tar."""
        tar = say("name of the tar", "name")
        write(tar, tar_of([(say("member", "member"), self.log("compile-unrolled-blocks"))]))
        return ["--", tar]

    def records(self, say):
        """JSON lines of a log collector, and a kernel that is too large."""
        lines = self.log("compile-adam-state").decode().splitlines()
        pod, text = (text_of(say, name) for name in ("pod of a record", "exception of a record"))
        write(b"records.log", "".join(json.dumps({"message": line.replace("jaxlib._jax.XlaRuntimeError", text), "kubernetes": {"pod_name": pod}}) + "\n" for line in lines).encode())
        vmem = self.log("neighbour-vmem").replace(b"jit(f)/dot_general", b"jit(f)/%s" % say("operation", "quoted")).replace(b"%fusion", b"%%%s" % say("instruction", "token"))
        write(b"vmem.log", vmem.replace(b"train/vmem_xla_limit.py", b"%s.py" % say("path to a kernel", "quoted")))
        return ["records.log", "vmem.log", "--max-bytes", "9M"]

    def batch(self, say):
        """More than three failures, for the overview."""

        def larger(log, hundredths):
            """Returns the same failure with larger, still consistent figures."""
            return re.sub(rb"\b(20\.77|21\.02|5\.02)G", lambda match: b"%.2fG" % (float(match[1]) + hundredths / 100), log)

        for i in range(4):
            write(b"%d" % i + say(f"name {i}", "name"), larger(self.padded(say, f"{i}: "), i))
        write(b"broken" + say("name of what is broken", "name") + b".gz", gzip.compress(self.log("compile-adam-state"))[:400])
        write(b"unknown.log", b"OtherError: RESOURCE_EXHAUSTED: out of memory " + say("unknown error of a batch") + b"\n")
        return ["."]

    def dumps(self, say):
        """An XLA dump with allocations that its log lacks, and programs that fit."""
        dump = b"d" + say("folder of a dump", "name")
        os.mkdir(dump)
        module = b"jit_" + say("module of a dump", "token")
        for path in sorted((self.cases / "dump-padded-points" / "dump").iterdir()):
            text = path.read_bytes().replace(b"HloModule jit_rotate_tracks", b"HloModule " + module).replace(b"/home/user/train/d_points_n2.py", b"/home/%s.py" % say("file of a dump", "quoted"))
            text = re.sub(rb'op_name="pts[^"]*"', lambda _: b'op_name="%s"' % say("op name of a dump", "quoted"), text)
            write(dump + b"/" + path.name.encode().replace(b"jit_rotate_tracks", b"jit_x"), text)
        write(b"a.log", self.log("dump-padded-points").replace(b"jit_rotate_tracks", module))
        write(b"fits" + say("log of what fits", "name"), self.log("fits-as-the-log-states"))
        return ["a.log", ".", "--xla-dump", os.fsdecode(dump)]

    def nothing(self, say):
        """Nothing is found: unknown errors, and missing or unreadable inputs."""
        write(b"unknown.log", b"OtherError: RESOURCE_EXHAUSTED: out of memory " + say("unknown error") + b"\nallocating\n")
        names = [b"b" + say("name of an unknown error", "name"), b"c" + say("name of what is cut", "name") + b".gz"]
        write(names[0], b"OtherError: RESOURCE_EXHAUSTED: out of memory in pool\n")
        write(names[1], gzip.compress(b"x\n" * 9999)[:30])
        write(b"cut.tar.gz", gzip.compress(tar_of([(b"m" + say("member that is cut", "member") + b".gz", gzip.compress(os.urandom(9999))[:5000])])))
        write(b"list", ("z" + text_of(say, "missing file of a list")).encode().replace(b"\0", b"") + b"\0\x1b]0;t\x07\0")
        return ["--files-from", "list", "-0", "--", b"a" + say("missing file", "member") + b"/x", "unknown.log", *names, "cut.tar.gz"]

    def merge(self, say):
        """A part in which every free text of its records is replaced."""
        write(b"part.ndjson", b"".join(json.dumps(replaced(json.loads(line), say), ensure_ascii=True).encode() + b"\n" for line in self.part().splitlines()))
        return ["merge", "part.ndjson"]

    def part(self):
        if not hasattr(self, "made"):
            folder = str(self.cases)
            self.made = subprocess.run([self.program, "--format", "ndjson", "--", *(f"{folder}/{case}/log" for case in ("compile-padded-points", "program-too-large", "neighbour-vmem"))],
                                       capture_output=True).stdout
        return self.made

    def diff(self, say):
        """The comparison of two logs."""
        return self.pair(say, "more-points", ((b"rotate_tracks", b"%s", "module of both", "token"),))

    def change(self, say):
        """The comparison of two logs with new and removed allocations."""
        return self.pair(say, "checkpointed", ((b"/home/user/train/", b"/home/user/%s", "source file of both", "quoted"), (b"layer_0", b"%s", "op name of both", "quoted")))

    def pair(self, say, case, edits):
        names = [b"x" + say("name before", "name"), say("name after", "name")]
        for name, log in zip(names, ("before", "after")):
            text = (ROOT / "testdata" / "diffs" / case / log).read_bytes()
            for old, new, field, place in edits:
                text = text.replace(old, new % say(field, place))
            write(name, text)
        return ["diff", "--", *names]

    def run(self, say):
        """The diagnosis of `whyoom run`, on standard error."""
        write(b"log", self.padded(say, "job: "))
        return ["run", "--", "sh", "-c", "cat log; exit 3"]

    def rules(self, say):
        """Texts of a user's rule file, which may contain anything."""
        def text(name):
            return text_of(say, name).replace("{", "{{").replace("}", "}}")
        url = "https://e.example/" + text_of(say, "address of a link")
        rule = {"code": "my.pool", "title": text("title of a rule"), "category": text("category of a rule"), "phase": "run", "about": [text("about a rule")],
                "heads": [{"pattern": "MyError\\: pool %{bytes:size_1} of %{text:what} is empty"}], "identity": ["size_1"], "links": [{"title": text("title of a link"), "url": url}],
                "why": [{"text": text("reason of a rule") + " {what|text}"}], "examples": [{"text": ["MyError: pool 3 of x is empty"], "facts": {"size_1": 3, "what": "x"}}]}
        write(b"rule.json", json.dumps({"format": "whyoom.rules/1", "failures": [rule]}).encode())
        write(b"a.log", b"MyError: pool 3 of %s is empty\n" % say("text that a rule captures"))
        return ["--rules", "rule.json", "a.log"]

    def words(self, say):
        """Errors in rule files, options and topics: several commands with their messages."""
        write(say("name of a rule file", "name") + b".json", json.dumps({"format": "whyoom.rules/1", "failures": [
            {"code": "x\x1b[2J", text_of(say, "unknown key"): 1}]}).encode())
        names = os.listdir(".")
        word = say("word of the command line", "member")
        return [["rules", "check", "--", *names], ["rules", "list", "--", *names], ["explain", "--", word],
                ["--ignore", word], ["--format", b"html=" + word + b"/x", "."], ["--rules", word, "."], ["--resume", word + b"/x", "."]]


# The fields of a part with free text, from a log or from the author of the part.
FREE = {"message", "path", "member", "module", "program", "device", "user_source_path", "op_name", "source_file", "xla_label", "shape", "kind", "text", "why", "how",
        "instruction", "opcode", "operation", "chip", "hosts", "retry_why"}


def replaced(value, say, name=""):
    if isinstance(value, dict):
        return {key: member if key in ("tool", "merge", "summary", "recurring") else replaced(member, say, key) for key, member in value.items()}
    if isinstance(value, list):
        return [replaced(member, say, name) for member in value]
    # The beginning is kept, because whyoom interprets parts of some texts.
    return value + text_of(say, f"{name} of a part") if isinstance(value, str) and name in FREE else value


def text_of(say, name):
    return say(name, "any").decode(errors="replace")


def write(path, data):
    with open(path, "wb") as out:
        out.write(data)
