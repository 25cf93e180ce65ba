#!/usr/bin/env python3
"""Tests what the rule data tells users to type: every flag, call and configuration key.

  try_advice.py RULES_DIR                 test all; needs jax, libtpu, flax, optax, equinox, dm-haiku, haliax, ott-jax,
                                          keras and jmp (run.sh installs them)
  try_advice.py RULES_DIR --flags-only    test only the flags, with the installed libtpu
  try_advice.py RULES_DIR --list          list the names found in the texts; needs no packages
  try_advice.py RULES_DIR --packages DIR  also look up keys.json in the frameworks' wheels in DIR

Passes flags (--name=value) to the real compiler in LIBTPU_INIT_ARGS, or in XLA_FLAGS if they belong there, and compiles a
tiny program ahead of time. That process fails on an unknown flag or a wrong value. Looks up calls (jax.lax.map(f, xs,
batch_size=64)) and compares their keywords with the signature. keys.json lists configuration keys, and calls of packages
that cannot be installed here, with the source file that contains them. Any other name is a failure: the advice must
not contain a name that was not checked.
"""
import argparse
import builtins
import concurrent.futures
import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# The fields of a remedy that contain advice. Other texts describe what happened.
ADVICE = ("how", "note", "safe_why", "gain")
FLAG = re.compile(r"--((?:xla|tpu)_\w+|memory_\w+)(?:=([^\s\"'`;,:()]*[^\s\"'`;,:().]))?")
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)+|dtype|quantization|logdir|port)\b")
BARE_FLAG = re.compile(r"(?<![\w-])((?:xla|tpu)_(?:tpu|sc|jf|memory|latency|log|shared|dump)_\w+)\b")
CALL = re.compile(r"(?<![\w./'-])((?:[a-zA-Z_]\w*\.)+[a-zA-Z_]\w*)(\()?")
KEY = re.compile(r"(?<![\w./'\"-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b(?!\()")
ENVIRONMENT = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?==|\b)")
PACKAGES = {"jax": "jax", "jnp": "jax.numpy", "optax": "optax", "nn": "flax.linen", "nnx": "flax.nnx", "eqx": "equinox",
            "hk": "haiku", "pltpu": "jax.experimental.pallas.tpu", "pointcloud": "ott.geometry.pointcloud", "math": "math", "os": "os", "keras": "keras",
            "flax": "flax", "hax": "haliax", "np": "numpy"}
XLA_FLAGS_ONLY = {"xla_dump_to"}


def joined(value):
    return value if isinstance(value, str) else " ".join("".join(line) for line in value)


def texts_of(remedy):
    """Yields (where, framework, text) for each piece of advice in a remedy. Joins arrays of strings as the loader does."""
    for field in ADVICE:
        value = remedy.get(field, "")
        if field == "how":
            for framework, steps in value.items():
                for step in steps:
                    yield f"{remedy['id']}, {framework}", framework, joined(step["text"] if isinstance(step, dict) else step)
        else:
            yield f"{remedy['id']}, {field}", "", joined(value)


def without_holes(text):
    """Returns the text as a user reads it, with the whole names of imports.

    Keeps the quoted words of a placeholder and unescapes doubled braces.
    """
    out, i = "", 0
    while i < len(text):
        if text.startswith("{{", i) or text.startswith("}}", i):
            out += text[i]
            i += 2
        elif text[i] == "{":
            end, quoted = i + 1, False
            while end < len(text) and (quoted or text[end] != "}"):
                quoted ^= text[end] == "'"
                end += 1
            words = re.findall(r"'([^']*)'", text[i:end])
            out += " ".join(w for w in words if " " in w or "=" in w) or "VALUE"
            i = end + 1
        else:
            out += text[i]
            i += 1
    return re.sub(r"\bfrom (jax[\w.]*) import (\w+)", r"\1.\2", out)


def arguments(text, start):
    """Returns the text from `start` to the bracket that closes the one before it; None if nothing closes it."""
    depth = 1
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return text[start:i]
    return None


def keywords_in(inside):
    """Returns the keywords in the arguments of a call."""
    return re.findall(r"(?:^|[,(])\s*([a-z_]\w*)\s*=(?!=)", re.sub(r"[\[({][^\[\](){}]*[\])}]", "X", inside))


def find(path, parts):
    """Returns the object `path`.`parts`, where `path` is a module. Raises ImportError if the object is missing."""
    found = importlib.import_module(path)
    for part in parts:
        path += "." + part
        if not hasattr(found, part):
            importlib.import_module(path)
            found = sys.modules[path]
        else:
            found = getattr(found, part)
    return found


def parameters(found):
    """The parameters of a function or class by name, or None if unknown."""
    try:
        return inspect.signature(found.__init__ if inspect.isclass(found) else found).parameters
    except (TypeError, ValueError):
        return None


def sources_of(wheel):
    """The Python and YAML files of a wheel, as one text."""
    return "\n".join(wheel.read(n).decode(errors="replace") for n in wheel.namelist() if n.endswith((".py", ".yml")))


def occurs_in(name, sources):
    """Whether the sources contain the name as a whole word, with "-" as in options or "_" as in Python."""
    return any(re.search(rf"(?<!\w){re.escape(s)}(?!\w)", sources) for s in {name, name.replace("-", "_")})


class Advice:
    def __init__(self, rules):
        self.flags, self.options, self.calls, self.keys, self.environment = {}, {}, {}, {}, {}
        self.bare_flags = {}
        for path in sorted(pathlib.Path(rules).glob("*.json")):
            for remedy in json.loads(path.read_text()).get("remedies", []):
                for where, framework, text in texts_of(remedy):
                    self.read(where, framework, without_holes(text))

    def read(self, where, framework, text):
        for match in FLAG.finditer(text):
            self.flags.setdefault((match[1], match[2]), where)
        for match in BARE_FLAG.finditer(text):
            self.bare_flags.setdefault(match[1], where)
        for match in OPTION.finditer(text):
            self.options.setdefault(match[1], where)
        for match in ENVIRONMENT.finditer(text):
            self.environment.setdefault(match[1], where)
        for match in CALL.finditer(text):
            inside = arguments(text, match.end()) if match[2] else None
            self.calls.setdefault((match[1], inside), where)
        plain = CALL.sub(" ", FLAG.sub(" ", text))
        for match in KEY.finditer(plain):
            self.keys.setdefault(match[1], where)


class Trial:
    def __init__(self, seen):
        self.seen = seen  # keys.json
        self.failures = []
        self.tried = 0

    def fail(self, where, what):
        self.failures.append(f"{where}: {what}")

    def known(self, name):
        return name in self.seen["keys"] or name in self.seen["words"]

    def flags(self, advice):
        absent = self.seen["absent_flags"]
        values = self.seen["flag_values"]
        named = {name for name, _ in advice.flags}
        todo = dict(advice.flags)
        compiles = []
        for name, where in advice.bare_flags.items():
            if name not in named:
                todo[(name, None)] = where
        for (name, value), where in sorted(todo.items(), key=str):
            if name in absent:
                if value is not None:
                    self.fail(where, f"--{name} is advised, but keys.json lists it as absent")
                self.expect_refusal(name, absent[name], where)
                continue
            if value in (None, "N", "/tmp/dump"):
                value = values.get(name, value)
            if value is None:
                self.fail(where, f"--{name} has no value; add one to flag_values in keys.json")
                continue
            compiles.append((name, value, where))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda one: self.compile(*one), compiles))

    def run(self, variable, flag):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1",
                               TMPDIR=folder)
            environment.pop("XLA_FLAGS", None)
            environment.pop("LIBTPU_INIT_ARGS", None)
            environment[variable] = flag
            done = subprocess.run([sys.executable, HERE / "tiny_program.py"], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=120)
        self.tried += 1
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        return done.returncode == 0, lines[-1][:200] if lines else f"status {done.returncode}"

    def compile(self, name, value, where):
        variable = "XLA_FLAGS" if name in XLA_FLAGS_ONLY else "LIBTPU_INIT_ARGS"
        with tempfile.TemporaryDirectory() as folder:
            works, message = self.run(variable, f"--{name}={folder if value == '/tmp/dump' else value}")
        if not works:
            self.fail(where, f"{variable}=--{name}={value}: {message}")

    def expect_refusal(self, name, value, where):
        works, _ = self.run("LIBTPU_INIT_ARGS", f"--{name}={value}")
        if works:
            self.fail(where, f"--{name}={value} works with this libtpu, but keys.json lists it as absent")

    def resolve(self, name):
        """Returns the object of a dotted name, or None if its package is not in PACKAGES."""
        root, *rest = name.split(".")
        if root not in PACKAGES:
            return None
        return find(PACKAGES[root], rest)

    def calls(self, advice):
        for (name, inside), where in sorted(advice.calls.items(), key=str):
            if self.known(name) or name in self.seen["calls"]:
                continue
            try:
                found = self.resolve(name)
            except (ImportError, AttributeError) as problem:
                self.fail(where, f"{name}: {problem}")
                continue
            if found is None:
                self.fail(where, f"{name} is in no installed package; add the place where it was seen to keys.json")
                continue
            self.tried += 1
            if inside is not None:
                self.keywords(name, found, inside, where)

    def keywords(self, name, found, inside, where):
        accepted = parameters(found)
        if accepted is None or any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
            return
        for keyword in keywords_in(inside):
            if keyword not in accepted:
                self.fail(where, f"{name} has no parameter {keyword}= (it has {', '.join(accepted)})")

    def options(self, advice):
        """Tests compiler_options of jax.jit, and JAX settings in environment variables."""
        for arguments_, environment in (({"memory_fitting_level": 39}, {}), ({}, {"JAX_MEMORY_FITTING_LEVEL": "O3"}),
                                        ({"xla_tpu_rematerialization_algo": "PEAK_PRIORITY"}, {})):
            done = subprocess.run([sys.executable, HERE / "tiny_program.py", json.dumps(arguments_)],
                                  env=dict(os.environ, TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu",
                                           ALLOW_MULTIPLE_LIBTPU_LOAD="1", **environment),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
            self.tried += 1
            if done.returncode != 0:
                self.fail("compiler options", f"{arguments_} {environment}: {done.stdout.decode()[-200:]}")

    def unexplained(self, advice):
        """Yields (name, where) for each key, option and variable that neither keys.json nor a call or flag explains."""
        tried = {word for (_, inside), _ in advice.calls.items() if inside for word in re.findall(r"\w+", inside)}
        parts = {part for (name, _) in advice.calls for part in name.split(".")}
        flags = {name for name, _ in advice.flags} | set(advice.bare_flags)
        for name, where in sorted({**advice.keys, **advice.options, **advice.environment}.items()):
            if not (self.known(name) or name in tried or name in parts or name in flags or hasattr(builtins, name)):
                yield name, where

    def names(self, advice):
        """Requires each name to be in keys.json, part of a tested call or flag, or a checkpoint policy of JAX."""
        for name, where in self.unexplained(advice):
            if "jax" not in sys.modules or not hasattr(sys.modules["jax"].checkpoint_policies, name):
                self.fail(where, f"{name} is not in keys.json; add the file that contains it, or add it to words")

    def unused(self, advice):
        named = set(advice.keys) | set(advice.options) | set(advice.environment)
        for name, _ in list(advice.calls):
            named |= {name, *name.split(".")}
        named |= {word for (_, inside) in advice.calls if inside for word in re.findall(r"[\w-]+", inside)}
        for name in sorted(set(self.seen["keys"]) - named):
            self.fail("keys.json", f"{name}: no text contains it anymore")

    def packages(self, folder):
        """Looks up keys in the frameworks' wheels, if available."""
        by_package = {}
        for name, seen in self.seen["keys"].items():
            if seen.get("package"):
                by_package.setdefault(seen["package"], []).append((name, seen))
        for package, keys in sorted(by_package.items()):
            wheels = sorted(pathlib.Path(folder).glob(f"{package.replace('-', '_')}-*.whl"))
            if not wheels:
                print(f"advice: {package}: no wheel; its {len(keys)} keys are only checked against keys.json")
                continue
            with zipfile.ZipFile(wheels[-1]) as wheel:
                sources = sources_of(wheel)
            for name, seen in keys:
                self.tried += 1
                if not occurs_in(name, sources):
                    self.fail(f"keys.json, {name}", f"not in {wheels[-1].name}, but was seen in {seen['file']}")
            print(f"advice: {package}: {len(keys)} keys looked up in {wheels[-1].name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules")
    parser.add_argument("--flags-only", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--packages", metavar="DIR")
    options = parser.parse_args()
    advice = Advice(options.rules)
    if options.list:
        for kind in ("flags", "bare_flags", "options", "environment", "calls", "keys"):
            for name, where in sorted(getattr(advice, kind).items(), key=str):
                print(kind, name, where, sep="\t")
        return 0
    trial = Trial(json.loads((HERE / "keys.json").read_text()))
    if not options.flags_only:
        trial.calls(advice)
        trial.names(advice)
        trial.unused(advice)
        if options.packages:
            trial.packages(options.packages)
    trial.flags(advice)
    trial.options(advice)
    for failure in trial.failures:
        print(f"advice: FAILED: {failure}")
    print(f"advice: {trial.tried} tested, {len(trial.failures)} failed")
    return 1 if trial.failures else 0


if __name__ == "__main__":
    sys.exit(main())
