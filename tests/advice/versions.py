#!/usr/bin/env python3
"""Finds out since when and until when each name holds that the rule data tells people to type, and writes versions.json beside this
file; of it what people may run into goes to rules/versions.json.

  versions.py                                  all packages; needs the package registry, half an hour, and room for one release
  versions.py --package jax --package flax     these alone; what the file says of others stays
  versions.py --package jax --versions 0.4.30,0.5.3
                                               prints which names hold in these releases, writes nothing
  versions.py --confirm 0.4.21,0.8.0           looks JAX's names up in these releases themselves, too
  versions.py --check                          each name has its entry, and each entry its name; needs nothing

The names are those that try_advice.py tries, and a few more that keys.json calls words. Every STEP-th release of a package is tried,
and where two of these differ, those between them, down to neighbours: so each `since` and `until` is exact, but a name that goes
and comes again within a step may not be seen to. One that does and is seen is told, and stands with its newest range.

How a name is tried depends on the package: libtpu and jaxlib are started with the flags and say themselves which they do not know;
of the others the sources are read, and not run, so that no release needs the packages of its year. --confirm imports some releases of
JAX, each with its own jaxlib, as a check on the reader. A release that needs another Python than this is had for the first --python that will do.

With --cache DIR, what a release answered is kept there, and asked for only when there is a new name. Status 1: a name holds in no
release that was tried, or (--check) the file is not up to date.
"""
import argparse
import ast
import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

sys.dont_write_bytecode = True
import try_advice  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parent.parent / "rules"
# Releases of years ago, which no log of today is of.
EARLIEST = {"flax": "0.6.3", "optax": "0.1.4", "equinox": "0.10.0", "dm-haiku": "0.0.11", "transformers": "4.30.0", "jax": "0.4.21"}
# Packages whose names are keys of configurations: words that others use, too.
WORDS_OF = {"easydel", "levanter", "sglang-jax", "vllm"}
SECONDS = {"pip": 600, "try": 180}
NO_SUCH_FLAG = "xla_no_such_flag"  # each library must refuse it: one that does not has not read its flags

# What the first part of a dotted name stands for in the texts.
ROOTS = {**try_advice.PACKAGES, "pl": "jax.experimental.pallas", "checkify": "jax.experimental.checkify", "s": "jax.sharding.NamedSharding"}
ROOTS_OF_KEYS = {"torch_xla": "torch_xla", "xm": "torch_xla.core.xla_model", "xr": "torch_xla.runtime", "xs": "torch_xla.distributed.spmd",
                 "model": "transformers.modeling_flax_utils.FlaxPreTrainedModel",
                 "file_fdo_client": "jax_tpu_embedding.sparsecore.lib.fdo.file_fdo_client"}
# What the registry calls the packages that are imported by these names.
DISTRIBUTIONS = {"jax": "jax", "flax": "flax", "optax": "optax", "equinox": "equinox", "haiku": "dm-haiku", "ott": "ott-jax",
                 "keras": "keras", "torch_xla": "torch_xla", "transformers": "transformers", "jax_tpu_embedding": "jax-tpu-embedding"}
# ... and the one that is made of a place which keys.json names; for other places there is none.
PLACES = {"jax-ml/jax/jaxlib/": "jaxlib", "pytorch/xla/": "torch_xla",
          "vllm-project/vllm/": "vllm", "vllm-project/tpu-inference/": "vllm", "huggingface/transformers/": "transformers",
          "marin-community/levanter/": "levanter"}
# The first release that is the package meant: Keras 2 is a part of TensorFlow, and jax.Array came with 0.4.1.
FIRST = {"keras": "3.0.0", "jax": "0.4.1"}
PRERELEASES = {"levanter"}  # has had no others for years
TAKES_ANY = {"jax.debug.print(m=)"}  # the reader's own keywords
# What JAX needs besides jaxlib: of today, and of the time before NumPy 2. It imports absl in some releases without saying so.
BESIDES_JAX = (("numpy", "scipy", "ml_dtypes", "opt_einsum", "absl-py"),
                ("numpy<2", "scipy<1.12", "ml_dtypes<0.5", "opt_einsum", "absl-py"))


class NotTried(Exception):
    """A release that cannot be had or cannot be started here."""


@dataclasses.dataclass(frozen=True)
class Name:
    id: str  # as the texts say it; a keyword with its call: jax.lax.map(batch_size=)
    package: str
    way: str  # "flag", "call" or "word": how it is tried
    what: str  # of a call its path from the imported package on
    keyword: str = ""


# What there is to try.


def call(said, roots, keyword=""):
    """The Name of a dotted name; None where no registry has its package."""
    root, _, rest = said.partition(".")
    path = roots.get(root, "")
    package = DISTRIBUTIONS.get(path.partition(".")[0])
    return package and Name(f"{said}({keyword}=)" if keyword else said, package, "call", f"{path}.{rest}", keyword)


def flags_of(advice, seen):
    for flag in {name for name, _ in advice.flags} | set(advice.bare_flags):
        if flag not in seen["absent_flags"]:
            yield Name(flag, "jaxlib" if flag in try_advice.XLA_FLAGS_ONLY else "libtpu", "flag", flag)


def calls_of(advice, seen):
    for said, inside in advice.calls:
        if said not in seen["keys"]:
            yield call(said, ROOTS)
            for keyword in try_advice.keywords_in(inside or ""):
                yield call(said, ROOTS, keyword)


def settings_of(advice, seen):
    """JAX's settings: by the environment, or as jax.config.update takes them."""
    for said in [*advice.environment, *(key for key in advice.keys if key not in seen["keys"])]:
        if said.lower().startswith("jax_"):
            yield Name(said, "jax", "word", said.lower())


def keys_of(seen):
    for said, at in seen["keys"].items():
        place = f"{at['repository']}/{at['file']}"
        # A package of null: only a compiled library has it, which is not read.
        package = at["package"] if "package" in at else next((PLACES[start] for start in PLACES if place.startswith(start)), None)
        if not said.startswith("JAX_"):
            yield call(said, ROOTS_OF_KEYS) or package and Name(said, package, "word", said.rpartition(".")[2])


def names_of(rules):
    """All names that can be tried, each once, in the order of the file."""
    advice = try_advice.Advice(rules)
    seen = json.loads((HERE / "keys.json").read_text())
    policies = (call(f"jax.checkpoint_policies.{said}", ROOTS) for said, _ in try_advice.Trial(seen).unexplained(advice))
    policies = (dataclasses.replace(name, id=name.id.rpartition(".")[2]) for name in policies)
    names = {*flags_of(advice, seen), *calls_of(advice, seen), *settings_of(advice, seen), *keys_of(seen), *policies} - {None}
    return sorted((name for name in names if name.id not in TAKES_ANY), key=lambda name: (name.package, name.id))


# The package registry.


def order(version):
    return [int(part) for part in re.findall(r"\d+", version)]


class Registry:
    def __init__(self, pythons, folder, keep):
        self.pythons, self.folder, self.keep = pythons, pathlib.Path(folder), keep
        self.listed = {}

    def pip(self, python, *arguments):
        """What pip says. Only what the registry does not have is an answer: whatever else is wrong ends all."""
        command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS["pip"])
        except subprocess.TimeoutExpired:
            sys.exit(f"versions: the package registry took longer than {SECONDS['pip']} s: {' '.join(arguments)}")
        if "No matching distribution" in done.stderr:
            raise NotTried("the registry has nothing built for this Python")
        if done.returncode != 0:
            sys.exit(f"versions: pip {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def releases(self, package):
        """Version to the first of the Pythons that can have it, from the oldest on."""
        if package not in self.listed:
            pythons = {}
            for python in self.pythons:
                said = self.pip(python, "index", "versions", package, *(["--pre"] if package in PRERELEASES else []))
                for version in re.search(r"Available versions: (.*)", said)[1].split(", "):
                    pythons.setdefault(version, python)
            first = order(FIRST.get(package, "0"))
            self.listed[package] = {v: pythons[v] for v in sorted(pythons, key=order) if order(v) >= first}
        return self.listed[package]

    def place(self, package, version):
        return self.folder / "wheels" / f"{package}-{version}"

    def wheel(self, package, version):
        """The file of a release; built ones only, since to build one is to run it."""
        kept = self.place(package, version)
        if not list(kept.glob("*.whl")):
            python = self.releases(package)[version]
            self.pip(python, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(kept), f"{package}=={version}")
        return next(kept.glob("*.whl"))

    def drop(self, package, version):
        if not self.keep:
            shutil.rmtree(self.place(package, version), ignore_errors=True)

    def besides(self, python, package):
        """Lists of the folders that this package is to be started with, to be tried one after the other."""
        if package == "libtpu":
            yield []
        for packages in BESIDES_JAX if package != "libtpu" else ():
            folder = self.folder / "beside" / re.sub(r"[^\w.]+", "-", " ".join([python, *packages]))
            if not folder.exists():
                unfinished = folder.with_suffix(".part")
                self.pip(python, "install", "--upgrade", "--only-binary", ":all:", "--target", str(unfinished), *packages)
                unfinished.rename(folder)
            yield [folder]


# Sources, read and not run.


class Modules:
    """What the modules of a wheel define. What is found is (module, node); the node of a module is None."""

    ELSEWHERE = (None, None)  # an object of another package: taken on trust

    def __init__(self, wheel):
        self.wheel, self.texts, self.bodies = wheel, {}, {}
        self.files = {}
        for file in wheel.namelist():
            if file.endswith(".py"):
                self.files[file[:-3].replace("/", ".").removesuffix(".__init__")] = file
        for module in list(self.files):
            while (module := module.rpartition(".")[0]) and module not in self.files:
                self.files[module] = None  # a folder without __init__.py

    def find(self, path):
        root, *parts = path.split(".")
        found = (root, None) if root in self.files else None
        for part in parts:
            found = found and self.member(found, part)
        return found

    def member(self, found, name):
        module, node = found
        if found == self.ELSEWHERE:
            return found
        if node is None:
            return self.bound(module, name)
        if isinstance(node, ast.ClassDef):
            own = next(filter(None, (self.binding(module, statement, name, frozenset()) for statement in node.body)), None)
            return own or next(filter(None, (self.member(base, name) for base in self.bases(found))), None)
        if isinstance(node, ast.Call):  # SimpleNamespace(name=...)
            value = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
            return value and (self.meant(module, value) or (module, value))
        return None

    def bases(self, found):
        module, node = found
        return [base for base in (self.meant(module, expression) for expression in node.bases) if base not in (None, self.ELSEWHERE)]

    def takes(self, found, keyword):
        """Does its signature name the keyword? A ** may pass it on, or not: that is no promise."""
        module, node = found
        if isinstance(node, ast.ClassDef):
            method = self.member(found, "__init__")
            stub = method is None or method[1].args.kwarg  # for type checkers: that of a dataclass is made
            return method is not None and self.takes(method, keyword) or bool(stub) and keyword in self.fields(found)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("partial") and node.args:
            function = self.meant(module, node.args[0])
            return function is not None and self.takes(function, keyword)
        if not isinstance(node, ast.FunctionDef):
            return False
        return any(argument.arg == keyword for argument in node.args.args + node.args.kwonlyargs)

    def fields(self, found):
        """What the __init__ that a dataclass makes of itself takes."""
        own = {s.target.id for s in found[1].body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
        return own.union(*(self.fields(base) for base in self.bases(found) if isinstance(base[1], ast.ClassDef)))

    def body(self, module):
        """The module's statements, those under conditions too, from the last on: the last to bind a name binds it."""
        if module not in self.bodies:
            try:
                with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # of strings that were right in their day
                    tree = ast.parse(self.text(module))
            except SyntaxError:
                raise NotTried(f"{module} is not for the Python that this runs in") from None
            self.bodies[module] = list(self.flat(tree.body))[::-1]
        return self.bodies[module]

    def text(self, module):
        if module not in self.texts:
            file = self.files[module]
            self.texts[module] = self.wheel.read(file) if file else b""
        return self.texts[module]

    def may_bind(self, module, name):
        """Spares the parsing of the hundreds of modules that some packages import everything from."""
        return name.encode() in self.text(module) or b"import *" in self.text(module)

    def flat(self, statements):
        for statement in statements:
            yield statement
            if isinstance(statement, (ast.If, ast.Try, ast.With)):
                for inner in ("body", "handlers", "orelse", "finalbody"):
                    yield from self.flat(getattr(statement, inner, []))
            elif isinstance(statement, ast.ExceptHandler):
                yield from self.flat(statement.body)

    def bound(self, module, name, passed=frozenset()):
        """What a name is in a module; `passed` are the names on the way, since modules import each other in circles."""
        if (module, name) not in passed and self.may_bind(module, name):
            passed |= {(module, name)}
            for statement in self.body(module):
                if found := self.binding(module, statement, name, passed):
                    return found
        inner = f"{module}.{name}"
        return (inner, None) if inner in self.files else None

    def binding(self, module, statement, name, passed):
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            return (module, statement) if statement.name == name else None
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            of_itself = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(statement.value))  # f = wrapper(f)
            if not of_itself and any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return self.meant(module, statement.value, passed) or (module, statement.value)
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.asname == name:
                    return self.module(alias.name)
                if not alias.asname and alias.name.partition(".")[0] == name:
                    return self.module(name)
        if isinstance(statement, ast.ImportFrom):
            return self.imported(self.base(module, statement), statement.names, name, passed)
        return None

    def meant(self, module, expression, passed=frozenset()):
        """What an expression of names and dots stands for."""
        if isinstance(expression, ast.Name):
            return self.bound(module, expression.id, passed)
        if isinstance(expression, ast.Attribute):
            whose = self.meant(module, expression.value, passed)
            return whose and self.member(whose, expression.attr)
        return None

    def module(self, name):
        if name in self.files:
            return (name, None)
        return None if name.partition(".")[0] in self.files else self.ELSEWHERE

    def base(self, module, statement):
        """The module that `from ... import` names."""
        if not statement.level:
            return statement.module
        packages = module.split(".")
        is_package = (self.files[module] or "__init__.py").endswith("__init__.py")
        packages = packages[:len(packages) + is_package - statement.level]
        return ".".join(packages + ([statement.module] if statement.module else []))

    def imported(self, base, aliases, name, passed):
        for alias in aliases:
            everything = alias.name == "*" and not name.startswith("_") and base in self.files
            if everything or (alias.asname or alias.name) == name:
                found = self.module(base)
                found = found and (found if found == self.ELSEWHERE else self.bound(base, name if everything else alias.name, passed))
                if found:
                    return found
        return None


def read_sources(wheel_file, names):
    with zipfile.ZipFile(wheel_file) as wheel:
        modules, sources = Modules(wheel), try_advice.sources_of(wheel)
        held = {}
        for name in names:
            if name.way == "call":
                found = modules.find(name.what)
                held[name.id] = bool(found) and (not name.keyword or modules.takes(found, name.keyword))
            else:
                held[name.id] = try_advice.stands_in(name.what, sources) or name.what.isupper() and stands_in_libraries(name.what, wheel)
    return held


def stands_in_libraries(variable, wheel):
    """Variables of the environment are read by compiled code, too."""
    return any(file.endswith(".so") and variable.encode() in wheel.read(file) for file in wheel.namelist())


# Releases that are started. These parts run in a process of their own, whose PYTHONPATH is the release.


def start(python, probe, folders, given=None, **environment):
    """Standard output of one of PROBES, and what it complained of."""
    surroundings = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")}
    with tempfile.TemporaryDirectory() as scratch:
        surroundings.update(environment, PYTHONPATH=os.pathsep.join(map(str, folders)), PYTHONDONTWRITEBYTECODE="1", TMPDIR=scratch,
                            JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
        try:
            done = subprocess.run([python, __file__, "--probe", probe], env=surroundings, input=json.dumps(given), capture_output=True,
                                  text=True, errors="replace", timeout=SECONDS["try"])
        except subprocess.TimeoutExpired:
            raise NotTried(f"did not end within {SECONDS['try']} s") from None
    return done.stdout, done.stderr


def probe_libtpu(_):
    """Starts libtpu as a framework does, which makes it read LIBTPU_INIT_ARGS."""
    folder = pathlib.Path(os.environ["PYTHONPATH"])
    library = ctypes.CDLL(str(folder / "libtpu" / "libtpu.so"))
    library.GetPjrtApi.restype = ctypes.POINTER(ctypes.c_size_t)
    # struct PJRT_Api: its size, extensions, its version in three words, PJRT_Error_Destroy, _Message, _GetCode, PJRT_Plugin_Initialize
    initialize = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(library.GetPjrtApi()[8])
    initialize(ctypes.byref((ctypes.c_size_t * 2)(16, 0)))


def probe_jaxlib(_):
    """Asks for the debug options, which are made of XLA_FLAGS."""
    from jaxlib import xla_client
    xla_client.CompileOptions().executable_build_options.debug_options


def probe_jax(names):
    """Looks each name up. Only the lack of what was asked for is an answer: a release that lacks something itself ends here."""
    held = {}
    for name in (Name(**fields) for fields in names):
        path = name.what if name.way == "call" else f"jax.config.{name.what}"
        root, *parts = path.split(".")
        try:
            found = try_advice.find(root, parts)
            held[name.id] = not name.keyword or name.keyword in (try_advice.parameters(found) or ())
        except ModuleNotFoundError as problem:
            if problem.name == root or not f"{path}.".startswith(f"{problem.name}."):
                raise
            held[name.id] = False
    print(json.dumps(held))


PROBES = {"libtpu": probe_libtpu, "jaxlib": probe_jaxlib, "jax": probe_jax}


def unknown_flags(complaint):
    """libtpu has a line for each flag, jaxlib one for each or one for all."""
    unknown = set(re.findall(r"Unknown command line flag '(\w+)'", complaint))
    for listed in re.findall(r"Unknown flags? in XLA_FLAGS: (.*)", complaint):
        unknown.update(re.findall(r"--(\w+)", listed))
    return unknown


def flags_held(registry, package, version, names):
    """Which flags a release knows: id to truth."""
    variable = {"libtpu": "LIBTPU_INIT_ARGS", "jaxlib": "XLA_FLAGS"}[package]
    flags = " ".join(f"--{flag}=1" for flag in [NO_SUCH_FLAG, *(name.what for name in names)])
    python = registry.releases(package)[version]
    with unpacked(registry, (package, version)) as folder:
        for beside in registry.besides(python, package):
            _, complaint = start(python, package, [folder, *beside], **{variable: flags})
            unknown = unknown_flags(complaint)
            if NO_SUCH_FLAG in unknown:
                return {name.id: name.what not in unknown for name in names}
    raise NotTried("does not start: " + last_line(complaint))


def import_jax(registry, version, names):
    """What a release of JAX says itself: id to truth."""
    python = registry.releases("jax")[version]
    jaxlib = [v for v in registry.releases("jaxlib") if order(v) <= order(version)]
    if not jaxlib:
        raise NotTried("there is no jaxlib for this Python that is as old")
    with unpacked(registry, ("jax", version), ("jaxlib", jaxlib[-1])) as folder:
        for beside in registry.besides(python, "jax"):
            said, complaint = start(python, "jax", [folder, *beside], [dataclasses.asdict(name) for name in names])
            if said:
                return json.loads(said.splitlines()[-1])
    raise NotTried("does not import: " + last_line(complaint))


def last_line(text):
    return (text.strip().splitlines() or ["says nothing"])[-1]


@contextlib.contextmanager
def unpacked(registry, *releases):
    """A folder with these."""
    with tempfile.TemporaryDirectory(dir=registry.folder) as folder:
        for release in releases:
            zipfile.ZipFile(registry.wheel(*release)).extractall(folder)
            registry.drop(*release)
        yield folder


def held_in(registry, package, version, names):
    """Which of a package's names hold in a release: id to truth."""
    flags = [name for name in names if name.way == "flag"]
    others = [name for name in names if name.way != "flag"]
    held = read_sources(registry.wheel(package, version), others) if others else {}
    if flags:
        held.update(flags_held(registry, package, version, flags))
    registry.drop(package, version)
    return held


# From answers to ranges.


class Answers:
    """What releases have answered, by package, version and id. One that cannot be tried has its reason instead of ids."""

    def __init__(self, registry):
        self.registry, self.file = registry, registry.folder / "answers.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def of(self, package, version, names):
        """The ids that hold; None where it cannot be tried."""
        known = self.known.setdefault(package, {})
        answer = known.get(version)
        if not isinstance(answer, str) and not {name.id for name in names} <= set(answer or {}):
            try:
                answer = held_in(self.registry, package, version, names)
            except NotTried as reason:
                answer = str(reason)
            known[version] = answer
            self.file.write_text(json.dumps(self.known, indent=1))
            said = answer if isinstance(answer, str) else f"{sum(answer.values())} of {len(answer)} hold"
            print(f"versions: {package} {version}: {said}", flush=True)
        return None if isinstance(answer, str) else frozenset(name.id for name in names if answer[name.id])


def explore(releases, holding, step):
    """Release to what holds in it, in their order: of every `step`-th, and of those between two that differ.

    To be tried and not to be tried differ, too: so the oldest that can be tried is.
    """
    last = len(releases) - 1
    tried = {i: holding(releases[i]) for i in sorted({*range(0, last, step), last})}
    gaps = list(zip(sorted(tried), sorted(tried)[1:]))
    while gaps:
        low, high = gaps.pop()
        middle = (low + high) // 2
        if middle > low and tried[low] != tried[high]:
            tried[middle] = holding(releases[middle])
            gaps += [(low, middle), (middle, high)]
    return {releases[i]: tried[i] for i in sorted(tried) if tried[i] is not None}


def entry(name, tried):
    """A name's entry, and whether it was gone in between; (None, False) where it holds nowhere."""
    versions = list(tried)
    holds = [name.id in tried[version] for version in versions]
    if not any(holds):
        return None, False
    last = len(holds) - 1 - holds[::-1].index(True)
    first = last - (holds[last::-1] + [False]).index(False) + 1
    made = {"id": name.id, "package": name.package}
    if first > 0:
        made["since"] = versions[first]
    if last < len(versions) - 1:
        made["until"] = versions[last]
    return {**made, "tried": [versions[0], versions[-1]]}, any(holds[:first])


def entries_of(package, names, answers, step):
    """The entries of a package's names, and how many of these hold nowhere."""
    releases = list(answers.registry.releases(package))
    tried = explore(releases, lambda version: answers.of(package, version, names), step)
    entries, nowhere = [], 0
    for name in names:
        made, gone_between = entry(name, tried) if tried else (None, False)
        if made is None:
            print(f"versions: FAILED: {package}: {name.id} holds in none of {len(tried)} releases")
            nowhere += 1
            continue
        if gone_between:
            there = [version for version, ids in tried.items() if name.id in ids]
            print(f"versions: {package}: {name.id} comes and goes: {', '.join(there)}")
        entries.append(made)
    return entries, nowhere


def confirm(versions, names, answers):
    """How many names JAX's sources and JAX itself disagree on, in these releases."""
    of_jax = [name for name in names if name.package == "jax"]
    wrong = 0
    for version in versions:
        read = answers.of("jax", version, of_jax)
        try:
            said = import_jax(answers.registry, version, of_jax)
        except NotTried as reason:
            print(f"versions: jax {version}: {reason}")
            continue
        differing = [name for name in said if said[name] != (name in read)]
        for name in differing:
            print(f"versions: FAILED: jax {version}: {name} {'holds' if said[name] else 'does not hold'}, its sources say otherwise")
        print(f"versions: jax {version}: {len(said)} names, {len(differing)} read wrongly", flush=True)
        wrong += len(differing)
    return wrong


def show(package, versions, names, answers):
    """What of a package's names holds in these releases."""
    of_package = [name for name in names if name.package == package]
    for version in versions:
        held = answers.of(package, version, of_package)
        for name in of_package if held is not None else ():
            print(version, name.id, "holds" if name.id in held else "-", sep="\t")


def told(entries):
    """What is for the rule data: names that not each release has which somebody may still run, and that mean nothing else."""
    by_name = {made["id"]: made for made in entries}
    for made in entries:
        since, until = made.get("since", ""), made.get("until", "")
        whole = by_name.get(made["id"].split("(")[0], {})
        is_known = made["id"].endswith("=)") and (whole.get("since", ""), whole.get("until", "")) == (since, until)
        is_past = not until and since and order(since) < order(EARLIEST.get(made["package"], "0"))
        if (since or until) and not is_known and not is_past and made["package"] not in WORDS_OF and not made["id"].startswith("model."):
            yield {key: made[key] for key in ("id", "package", "since", "until") if key in made}


def lines_of(entries):
    return ",\n".join("    " + json.dumps(made) for made in entries)


def write(file, entries, rules):
    entries.sort(key=lambda made: (made["package"], made["id"]))
    file.write_text(f'{{\n  "versions": [\n{lines_of(entries)}\n  ]\n}}\n')
    rules.write_text(f'{{\n  "$schema": "schema.json",\n  "format": "whyoom.rules/1",\n  "versions": [\n{lines_of(told(entries))}\n  ]\n}}\n')


def check(names, entries, rules):
    """Complaints on the files: names without an entry, entries without a name, and rule data that says otherwise."""
    if json.loads(rules.read_text())["versions"] != list(told(entries)):
        yield f"{rules.name} of the rule data does not say what is found out: write it anew"
    named = {(name.package, name.id) for name in names}
    listed = [(made["package"], made["id"]) for made in entries]
    for package, said in sorted(named - set(listed)):
        yield f"{said} ({package}) has no entry: versions.py --package {package}"
    for package, said in sorted(set(listed) - named):
        yield f"{said} ({package}) is named by no text any more: versions.py --package {package}"
    if listed != sorted(set(listed)):
        yield "entries are not sorted by package and id, or stand twice"


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=pathlib.Path, default=RULES, metavar="DIR")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="in place of versions.json beside this file")
    parser.add_argument("--check", action="store_true", help="hold the file against the names, without a network")
    parser.add_argument("--list", action="store_true", help="the names, and how each is tried")
    parser.add_argument("--package", action="append", metavar="NAME", help="only this; may be given several times")
    parser.add_argument("--versions", metavar="V,V", help="print what holds in these releases of one package")
    parser.add_argument("--confirm", metavar="V,V", help="hold what was read of these releases of JAX against what they say themselves")
    parser.add_argument("--step", type=int, default=5, metavar="N", help="try each N-th release, and what lies between two that differ (5)")
    parser.add_argument("--python", action="append", metavar="PROGRAM", help="a Python to have releases for, the preferred one first")
    parser.add_argument("--cache", metavar="DIR", help="keep answers here")
    parser.add_argument("--keep", action="store_true", help="keep wheels in the cache, too")
    parser.add_argument("--probe", choices=PROBES, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = options_of()
    if options.probe:
        PROBES[options.probe](json.load(sys.stdin))
        return 0
    names = names_of(options.rules)
    output, rules = options.output or HERE / "versions.json", options.rules / "versions.json"
    entries = json.loads(output.read_text())["versions"] if output.exists() else []
    if options.check:
        complaints = list(check(names, entries, rules))
        for complaint in complaints:
            print(f"versions: FAILED: {complaint}")
        print(f"versions: {len(entries)} entries, {len(complaints)} wrong")
        return 1 if complaints else 0
    if options.list:
        print("\n".join("\t".join(dataclasses.astuple(name)) for name in names))
        return 0
    packages = options.package or sorted({name.package for name in names})
    with tempfile.TemporaryDirectory() as scratch:
        registry = Registry(options.python or [sys.executable], options.cache or scratch, options.keep)
        registry.folder.mkdir(parents=True, exist_ok=True)
        answers = Answers(registry)
        if options.confirm:
            return 1 if confirm(options.confirm.split(","), names, answers) else 0
        if options.versions:
            show(packages[0], options.versions.split(","), names, answers)
            return 0
        failures = 0
        for package in packages:
            made, nowhere = entries_of(package, [name for name in names if name.package == package], answers, options.step)
            entries = [other for other in entries if other["package"] != package] + made
            failures += nowhere
            write(output, entries, rules)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
