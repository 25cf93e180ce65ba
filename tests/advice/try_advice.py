#!/usr/bin/env python3
"""Tries what the rule data tells people to type: every flag, every call, every configuration key.

  try_advice.py RULES_DIR                       needs jax, libtpu, flax, optax, equinox, dm-haiku, ott-jax and jmp (run.sh installs them)
  try_advice.py RULES_DIR --flags-only          with another libtpu, say the newest
  try_advice.py RULES_DIR --list                what is found in the texts; needs nothing
  try_advice.py RULES_DIR --packages DIR        checks keys.json against wheels of the frameworks in DIR, too

Flags (--name=value) are given to the real compiler in the place that the text says (LIBTPU_INIT_ARGS unless it is one for
XLA_FLAGS), with a tiny program compiled ahead of time; an unknown flag or a wrong value ends that process. Calls (jax.lax.map(f,
xs, batch_size=64)) are looked up, and their keywords held against the signature. Keys of configurations, and calls of packages
that cannot be installed here, stand in keys.json with the place where they were seen. What is in none of these is a failure: a text
may name nothing that was not looked up.
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
# Read by a reader, not passed on: texts of what has happened, not of what to do.
ADVICE = ("how", "note", "safe_why", "gain")
FLAG = re.compile(r"--((?:xla|tpu)_\w+|memory_\w+)(?:=([^\s\"'`;,:()]*[^\s\"'`;,:().]))?")
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)+|dtype|quantization|logdir|port)\b")
BARE_FLAG = re.compile(r"(?<![\w-])((?:xla|tpu)_(?:tpu|sc|jf|memory|latency|log|shared|dump)_\w+)\b")
CALL = re.compile(r"(?<![\w./'-])((?:[a-zA-Z_]\w*\.)+[a-zA-Z_]\w*)(\()?")
KEY = re.compile(r"(?<![\w./'\"-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b(?!\()")
ENVIRONMENT = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?==|\b)")
PACKAGES = {"jax": "jax", "jnp": "jax.numpy", "optax": "optax", "nn": "flax.linen", "nnx": "flax.nnx", "eqx": "equinox",
            "hk": "haiku", "pltpu": "jax.experimental.pallas.tpu", "pointcloud": "ott.geometry.pointcloud", "math": "math", "os": "os", "keras": "keras",
            "flax": "flax"}
XLA_FLAGS_ONLY = {"xla_dump_to"}


def joined(value):
    return value if isinstance(value, str) else " ".join("".join(line) for line in value)


def texts_of(remedy):
    """(where, text) of all that is advice in a remedy; arrays of strings are joined as the loader joins them."""
    for field in ADVICE:
        value = remedy.get(field, "")
        if field == "how":
            for framework, steps in value.items():
                for step in steps:
                    yield f"{remedy['id']}, {framework}", framework, joined(step)
        else:
            yield f"{remedy['id']}, {field}", "", joined(value)


def without_holes(text):
    """Text as a person reads it: a hole's quoted words stay, the rest of the hole goes; doubled braces are braces."""
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
    return out


def arguments(text, start):
    """The text between the bracket before `start` and its partner."""
    depth = 1
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return text[start:i]
    return None


def keywords_in(inside):
    """The keywords between the brackets of a call."""
    return re.findall(r"(?:^|[,(])\s*([a-z_]\w*)\s*=(?!=)", re.sub(r"[\[({][^\[\](){}]*[\])}]", "X", inside))


def find(path, parts):
    """The object of these parts below a module; ImportError where there is none."""
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
    """What a call of it takes, by name; None where that cannot be told."""
    try:
        return inspect.signature(found.__init__ if inspect.isclass(found) else found).parameters
    except (TypeError, ValueError):
        return None


def sources_of(wheel):
    """All that people have written of a wheel's files, as one text."""
    return "\n".join(wheel.read(n).decode(errors="replace") for n in wheel.namelist() if n.endswith((".py", ".yml")))


def stands_in(name, sources):
    """Is it a word of these sources, as an option or as a name of Python?"""
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
                    self.fail(where, f"--{name} is advised, but keys.json says that there is none")
                self.expect_refusal(name, absent[name], where)
                continue
            if value in (None, "N", "/tmp/dump"):
                value = values.get(name, value)
            if value is None:
                self.fail(where, f"--{name} is named without a value: give one in keys.json, flag_values")
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
            fits, said = self.run(variable, f"--{name}={folder if value == '/tmp/dump' else value}")
        if not fits:
            self.fail(where, f"{variable}=--{name}={value}: {said}")

    def expect_refusal(self, name, value, where):
        fits, _ = self.run("LIBTPU_INIT_ARGS", f"--{name}={value}")
        if fits:
            self.fail(where, f"--{name}={value} works with this libtpu: keys.json says that it does not")

    def resolve(self, name):
        """The object of a dotted name; None where its package is none of those installed."""
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
                self.fail(where, f"{name} is in no package that is installed here; say in keys.json where it was seen")
                continue
            self.tried += 1
            if inside is not None:
                self.keywords(name, found, inside, where)

    def keywords(self, name, found, inside, where):
        taken = parameters(found)
        if taken is None or any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            return
        for keyword in keywords_in(inside):
            if keyword not in taken:
                self.fail(where, f"{name} takes no {keyword}=: {', '.join(taken)}")

    def options(self, advice):
        """compiler_options of jax.jit, and settings of JAX by the environment."""
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
        """(name, where) of each key, option and variable that is neither in keys.json nor tried as part of a call or a flag."""
        tried = {word for (_, inside), _ in advice.calls.items() if inside for word in re.findall(r"\w+", inside)}
        parts = {part for (name, _) in advice.calls for part in name.split(".")}
        flags = {name for name, _ in advice.flags} | set(advice.bare_flags)
        for name, where in sorted({**advice.keys, **advice.options, **advice.environment}.items()):
            if not (self.known(name) or name in tried or name in parts or name in flags or hasattr(builtins, name)):
                yield name, where

    def names(self, advice):
        """Each key and option is in keys.json, a keyword that a call was tried with, or a name that JAX knows."""
        for name, where in self.unexplained(advice):
            if "jax" not in sys.modules or not hasattr(sys.modules["jax"].checkpoint_policies, name):
                self.fail(where, f"{name} stands nowhere in keys.json: say where it was seen, or that it is only a word")

    def unused(self, advice):
        said = set(advice.keys) | set(advice.options) | set(advice.environment)
        for name, _ in list(advice.calls):
            said |= {name, *name.split(".")}
        said |= {word for (_, inside) in advice.calls if inside for word in re.findall(r"[\w-]+", inside)}
        for name in sorted(set(self.seen["keys"]) - said):
            self.fail("keys.json", f"{name}: no text names it any more")

    def packages(self, folder):
        """Keys against the frameworks' own wheels, as far as they can be had."""
        by_package = {}
        for name, seen in self.seen["keys"].items():
            if seen.get("package"):
                by_package.setdefault(seen["package"], []).append((name, seen))
        for package, keys in sorted(by_package.items()):
            wheels = sorted(pathlib.Path(folder).glob(f"{package.replace('-', '_')}-*.whl"))
            if not wheels:
                print(f"advice: {package}: no wheel, its {len(keys)} keys rest on keys.json")
                continue
            with zipfile.ZipFile(wheels[-1]) as wheel:
                sources = sources_of(wheel)
            for name, seen in keys:
                self.tried += 1
                if not stands_in(name, sources):
                    self.fail(f"keys.json, {name}", f"is not in {wheels[-1].name}; seen in {seen['file']}")
            print(f"advice: {package}: {len(keys)} keys looked for in {wheels[-1].name}")


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
    print(f"advice: {trial.tried} tried, {len(trial.failures)} wrong")
    return 1 if trial.failures else 0


if __name__ == "__main__":
    sys.exit(main())
