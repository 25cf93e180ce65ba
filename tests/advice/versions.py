#!/usr/bin/env python3
"""Finds the range of releases that contain each name that the rule data tells users to type. Writes the ranges to
versions.json in this folder, and those that users may encounter to rules/versions.json.

  versions.py                               all packages; needs the package registry, half an hour and disk space for one
                                            release
  versions.py --package jax --package flax  only these packages; keeps the entries of others
  versions.py --package jax --versions 0.4.30,0.5.3
                                            print the names that exist in these releases; writes nothing
  versions.py --confirm 0.4.21,0.8.0        also import these releases of JAX and look up its names there
  versions.py --check                       check that each name has an entry and each entry a name; needs no packages

The names are those of try_advice.py, and a few that keys.json lists as words. Tests every STEP-th release of a package. If two
of these differ, bisects the releases between them, so each `since` and `until` is exact. A name that disappears and returns
within a step may be missed. If this is noticed, the tool prints it and records the newest range.

libtpu and jaxlib are started with all flags and report unknown ones. For other packages, the sources are read and not run, so
no release needs its old dependencies. --confirm imports some releases of JAX, each with its own jaxlib, to verify the source
reader. A release that does not support this Python is downloaded for the first --python that it supports.

--cache DIR stores the results for each release, which is tested again only if there is a new name. Exits with 1 if a name
exists in no tested release or, with --check, if the file is outdated.
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
# Releases so old that no current log comes from an earlier one.
EARLIEST = {"flax": "0.6.3", "optax": "0.1.4", "equinox": "0.10.0", "dm-haiku": "0.0.11", "transformers": "4.30.0", "jax": "0.4.21"}
# Packages whose names are configuration keys, and so also words that other packages use.
WORDS_OF = {"easydel", "levanter", "sglang-jax", "vllm"}
SECONDS = {"pip": 600, "try": 180}
NO_SUCH_FLAG = "xla_no_such_flag"  # each library must reject it; otherwise it did not read its flags

# The import path for the first part of a dotted name in the texts.
ROOTS = {**try_advice.PACKAGES, "pl": "jax.experimental.pallas", "checkify": "jax.experimental.checkify", "s": "jax.sharding.NamedSharding"}
ROOTS_OF_KEYS = {"torch_xla": "torch_xla", "xm": "torch_xla.core.xla_model", "xr": "torch_xla.runtime", "xs": "torch_xla.distributed.spmd",
                 "model": "transformers.modeling_flax_utils.FlaxPreTrainedModel",
                 "file_fdo_client": "jax_tpu_embedding.sparsecore.lib.fdo.file_fdo_client"}
# Package names in the registry, by import name.
DISTRIBUTIONS = {"jax": "jax", "flax": "flax", "optax": "optax", "equinox": "equinox", "haiku": "dm-haiku", "ott": "ott-jax",
                 "keras": "keras", "torch_xla": "torch_xla", "transformers": "transformers", "jax_tpu_embedding": "jax-tpu-embedding"}
# Packages by repository and folder in keys.json. Files elsewhere belong to no package.
PLACES = {"jax-ml/jax/jaxlib/": "jaxlib", "pytorch/xla/": "torch_xla",
          "vllm-project/vllm/": "vllm", "vllm-project/tpu-inference/": "vllm", "huggingface/transformers/": "transformers",
          "marin-community/levanter/": "levanter"}
# The first release to consider: Keras 2 is a part of TensorFlow, and jax.Array was added in 0.4.1.
FIRST = {"keras": "3.0.0", "jax": "0.4.1"}
PRERELEASES = {"levanter"}  # has only had prereleases for years
TAKES_ANY = {"jax.debug.print(m=)"}  # a call that accepts any keyword
# Dependencies of JAX besides jaxlib: current ones, and those before NumPy 2. Some releases import absl without
# declaring it.
BESIDES_JAX = (("numpy", "scipy", "ml_dtypes", "opt_einsum", "absl-py"),
                ("numpy<2", "scipy<1.12", "ml_dtypes<0.5", "opt_einsum", "absl-py"))


class NotTried(Exception):
    """A release that cannot be downloaded or started here."""


@dataclasses.dataclass(frozen=True)
class Name:
    id: str  # as in the texts; a keyword with its call: jax.lax.map(batch_size=)
    package: str
    way: str  # how it is tested: "flag", "call" or "word"
    what: str  # the flag or word, or the import path of a call
    keyword: str = ""


# The names to test.


def call(text_name, roots, keyword=""):
    """Returns the Name of a dotted name, or None if its package is not in DISTRIBUTIONS."""
    root, _, rest = text_name.partition(".")
    path = roots.get(root, "")
    package = DISTRIBUTIONS.get(path.partition(".")[0])
    return package and Name(f"{text_name}({keyword}=)" if keyword else text_name, package, "call", f"{path}.{rest}", keyword)


def flags_of(advice, seen):
    for flag in {name for name, _ in advice.flags} | set(advice.bare_flags):
        if flag not in seen["absent_flags"]:
            yield Name(flag, "jaxlib" if flag in try_advice.XLA_FLAGS_ONLY else "libtpu", "flag", flag)


def calls_of(advice, seen):
    for text_name, inside in advice.calls:
        if text_name not in seen["keys"]:
            yield call(text_name, ROOTS)
            for keyword in try_advice.keywords_in(inside or ""):
                yield call(text_name, ROOTS, keyword)


def settings_of(advice, seen):
    """JAX settings: environment variables, or names for jax.config.update."""
    for text_name in [*advice.environment, *(key for key in advice.keys if key not in seen["keys"])]:
        if text_name.lower().startswith("jax_"):
            yield Name(text_name, "jax", "word", text_name.lower())


def keys_of(seen):
    for text_name, at in seen["keys"].items():
        place = f"{at['repository']}/{at['file']}"
        # A null package: only a compiled library contains the name, which is not read.
        package = at["package"] if "package" in at else next((PLACES[start] for start in PLACES if place.startswith(start)), None)
        if not text_name.startswith("JAX_"):
            yield call(text_name, ROOTS_OF_KEYS) or package and Name(text_name, package, "word", text_name.rpartition(".")[2])


def names_of(rules):
    """All names that can be tested, without duplicates, in the order of the file."""
    advice = try_advice.Advice(rules)
    seen = json.loads((HERE / "keys.json").read_text())
    policies = (call(f"jax.checkpoint_policies.{text_name}", ROOTS) for text_name, _ in try_advice.Trial(seen).unexplained(advice))
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
        """Returns the output of pip. Raises NotTried if the registry lacks the release; exits on any other error."""
        command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS["pip"])
        except subprocess.TimeoutExpired:
            sys.exit(f"versions: the package registry took longer than {SECONDS['pip']} s: {' '.join(arguments)}")
        if "No matching distribution" in done.stderr:
            raise NotTried("the registry has no wheel for this Python")
        if done.returncode != 0:
            sys.exit(f"versions: pip {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def releases(self, package):
        """Maps each version, oldest first, to the first Python that supports it."""
        if package not in self.listed:
            pythons = {}
            for python in self.pythons:
                output = self.pip(python, "index", "versions", package, *(["--pre"] if package in PRERELEASES else []))
                for version in re.search(r"Available versions: (.*)", output)[1].split(", "):
                    pythons.setdefault(version, python)
            first = order(FIRST.get(package, "0"))
            self.listed[package] = {v: pythons[v] for v in sorted(pythons, key=order) if order(v) >= first}
        return self.listed[package]

    def place(self, package, version):
        return self.folder / "wheels" / f"{package}-{version}"

    def wheel(self, package, version):
        """Returns the wheel of a release. Never builds one, since that would run its code."""
        kept = self.place(package, version)
        if not list(kept.glob("*.whl")):
            python = self.releases(package)[version]
            self.pip(python, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(kept), f"{package}=={version}")
        return next(kept.glob("*.whl"))

    def drop(self, package, version):
        if not self.keep:
            shutil.rmtree(self.place(package, version), ignore_errors=True)

    def besides(self, python, package):
        """Yields alternative lists of folders with dependencies for starting this package."""
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
    """Finds definitions in the modules of a wheel. A result is (module, node); the node of a module itself is None."""

    ELSEWHERE = (None, None)  # an object of another package: assumed to exist

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
        """Whether the signature names the keyword. A ** parameter does not count, since it may reject the keyword."""
        module, node = found
        if isinstance(node, ast.ClassDef):
            method = self.member(found, "__init__")
            stub = method is None or method[1].args.kwarg  # for type checkers; a dataclass generates the real one
            return method is not None and self.takes(method, keyword) or bool(stub) and keyword in self.fields(found)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("partial") and node.args:
            function = self.meant(module, node.args[0])
            return function is not None and self.takes(function, keyword)
        if not isinstance(node, ast.FunctionDef):
            return False
        return any(argument.arg == keyword for argument in node.args.args + node.args.kwonlyargs)

    def fields(self, found):
        """The parameters of the __init__ that a dataclass generates."""
        own = {s.target.id for s in found[1].body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
        return own.union(*(self.fields(base) for base in self.bases(found) if isinstance(base[1], ast.ClassDef)))

    def body(self, module):
        """Returns the statements, also conditional ones. The last comes first, because a name's last binding counts."""
        if module not in self.bodies:
            try:
                with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # old strings that are invalid today
                    tree = ast.parse(self.text(module))
            except SyntaxError:
                raise NotTried(f"this Python cannot parse {module}") from None
            self.bodies[module] = list(self.flat(tree.body))[::-1]
        return self.bodies[module]

    def text(self, module):
        if module not in self.texts:
            file = self.files[module]
            self.texts[module] = self.wheel.read(file) if file else b""
        return self.texts[module]

    def may_bind(self, module, name):
        """Whether a module may bind the name. Saves parsing hundreds of modules that some packages import."""
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
        """Finds the definition of a name in a module. `passed` contains the visited names: imports can be circular."""
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
        """Finds the definition that an expression of names and dots refers to."""
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
        existing = {}
        for name in names:
            if name.way == "call":
                found = modules.find(name.what)
                existing[name.id] = bool(found) and (not name.keyword or modules.takes(found, name.keyword))
            else:
                existing[name.id] = try_advice.occurs_in(name.what, sources) or name.what.isupper() and occurs_in_libraries(name.what, wheel)
    return existing


def occurs_in_libraries(variable, wheel):
    """Whether compiled code contains the name of an environment variable."""
    return any(file.endswith(".so") and variable.encode() in wheel.read(file) for file in wheel.namelist())


# Starting releases. The probes run in a separate process whose PYTHONPATH is the release.


def start(python, probe, folders, given=None, **environment):
    """Runs one of PROBES and returns its standard output and standard error."""
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
    """Initializes libtpu as a framework does, so it reads LIBTPU_INIT_ARGS."""
    folder = pathlib.Path(os.environ["PYTHONPATH"])
    library = ctypes.CDLL(str(folder / "libtpu" / "libtpu.so"))
    library.GetPjrtApi.restype = ctypes.POINTER(ctypes.c_size_t)
    # struct PJRT_Api: size, extensions, version (three words), PJRT_Error_Destroy, _Message, _GetCode,
    # PJRT_Plugin_Initialize
    initialize = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(library.GetPjrtApi()[8])
    initialize(ctypes.byref((ctypes.c_size_t * 2)(16, 0)))


def probe_jaxlib(_):
    """Reads the debug options, which makes jaxlib parse XLA_FLAGS."""
    from jaxlib import xla_client
    xla_client.CompileOptions().executable_build_options.debug_options


def probe_jax(names):
    """Looks up each name. Raises ModuleNotFoundError if the release itself lacks a dependency."""
    existing = {}
    for name in (Name(**fields) for fields in names):
        path = name.what if name.way == "call" else f"jax.config.{name.what}"
        root, *parts = path.split(".")
        try:
            found = try_advice.find(root, parts)
            existing[name.id] = not name.keyword or name.keyword in (try_advice.parameters(found) or ())
        except ModuleNotFoundError as problem:
            if problem.name == root or not f"{path}.".startswith(f"{problem.name}."):
                raise
            existing[name.id] = False
    print(json.dumps(existing))


PROBES = {"libtpu": probe_libtpu, "jaxlib": probe_jaxlib, "jax": probe_jax}


def unknown_flags(complaint):
    """The flags that a library rejected: libtpu prints a line for each, jaxlib one line for each or for all."""
    unknown = set(re.findall(r"Unknown command line flag '(\w+)'", complaint))
    for listed in re.findall(r"Unknown flags? in XLA_FLAGS: (.*)", complaint):
        unknown.update(re.findall(r"--(\w+)", listed))
    return unknown


def flags_in_release(registry, package, version, names):
    """Maps the id of each flag to whether the release knows it."""
    variable = {"libtpu": "LIBTPU_INIT_ARGS", "jaxlib": "XLA_FLAGS"}[package]
    flags = " ".join(f"--{flag}=1" for flag in [NO_SUCH_FLAG, *(name.what for name in names)])
    python = registry.releases(package)[version]
    with unpacked(registry, (package, version)) as folder:
        for beside in registry.besides(python, package):
            _, complaint = start(python, package, [folder, *beside], **{variable: flags})
            unknown = unknown_flags(complaint)
            if NO_SUCH_FLAG in unknown:
                return {name.id: name.what not in unknown for name in names}
    raise NotTried("cannot be started: " + last_line(complaint))


def import_jax(registry, version, names):
    """Maps the id of each name to whether an imported release of JAX has it."""
    python = registry.releases("jax")[version]
    jaxlib = [v for v in registry.releases("jaxlib") if order(v) <= order(version)]
    if not jaxlib:
        raise NotTried("there is no jaxlib of that age for this Python")
    with unpacked(registry, ("jax", version), ("jaxlib", jaxlib[-1])) as folder:
        for beside in registry.besides(python, "jax"):
            output, complaint = start(python, "jax", [folder, *beside], [dataclasses.asdict(name) for name in names])
            if output:
                return json.loads(output.splitlines()[-1])
    raise NotTried("cannot be imported: " + last_line(complaint))


def last_line(text):
    return (text.strip().splitlines() or ["no output"])[-1]


@contextlib.contextmanager
def unpacked(registry, *releases):
    """A temporary folder with the unpacked releases."""
    with tempfile.TemporaryDirectory(dir=registry.folder) as folder:
        for release in releases:
            zipfile.ZipFile(registry.wheel(*release)).extractall(folder)
            registry.drop(*release)
        yield folder


def names_in_release(registry, package, version, names):
    """Maps the id of each name to whether the release has it."""
    flags = [name for name in names if name.way == "flag"]
    others = [name for name in names if name.way != "flag"]
    existing = read_sources(registry.wheel(package, version), others) if others else {}
    if flags:
        existing.update(flags_in_release(registry, package, version, flags))
    registry.drop(package, version)
    return existing


# Computing ranges.


class Answers:
    """Results by package, version and id. A release that cannot be tested has the reason instead of ids."""

    def __init__(self, registry):
        self.registry, self.file = registry, registry.folder / "answers.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def of(self, package, version, names):
        """Returns the ids that the release has, or None if it cannot be tested."""
        known = self.known.setdefault(package, {})
        answer = known.get(version)
        if not isinstance(answer, str) and not {name.id for name in names} <= set(answer or {}):
            try:
                answer = names_in_release(self.registry, package, version, names)
            except NotTried as reason:
                answer = str(reason)
            known[version] = answer
            self.file.write_text(json.dumps(self.known, indent=1))
            result = answer if isinstance(answer, str) else f"{sum(answer.values())} of {len(answer)} names exist"
            print(f"versions: {package} {version}: {result}", flush=True)
        return None if isinstance(answer, str) else frozenset(name.id for name in names if answer[name.id])


def explore(releases, ids_of, step):
    """Maps releases, in order, to their names: every `step`-th release, and those found by bisection between two that differ.

    A release that cannot be tested differs from one that can, so the oldest testable release is found.
    """
    last = len(releases) - 1
    tried = {i: ids_of(releases[i]) for i in sorted({*range(0, last, step), last})}
    gaps = list(zip(sorted(tried), sorted(tried)[1:]))
    while gaps:
        low, high = gaps.pop()
        middle = (low + high) // 2
        if middle > low and tried[low] != tried[high]:
            tried[middle] = ids_of(releases[middle])
            gaps += [(low, middle), (middle, high)]
    return {releases[i]: tried[i] for i in sorted(tried) if tried[i] is not None}


def entry(name, tried):
    """Returns a name's entry, and whether it disappeared and came back; (None, False) if no release has it."""
    versions = list(tried)
    is_present = [name.id in tried[version] for version in versions]
    if not any(is_present):
        return None, False
    last = len(is_present) - 1 - is_present[::-1].index(True)
    first = last - (is_present[last::-1] + [False]).index(False) + 1
    made = {"id": name.id, "package": name.package}
    if first > 0:
        made["since"] = versions[first]
    if last < len(versions) - 1:
        made["until"] = versions[last]
    return {**made, "tried": [versions[0], versions[-1]]}, any(is_present[:first])


def entries_of(package, names, answers, step):
    """Returns the entries of a package's names, and the number of names that no release has."""
    releases = list(answers.registry.releases(package))
    tried = explore(releases, lambda version: answers.of(package, version, names), step)
    entries, nowhere = [], 0
    for name in names:
        made, gone_between = entry(name, tried) if tried else (None, False)
        if made is None:
            print(f"versions: FAILED: {package}: none of {len(tried)} releases has {name.id}")
            nowhere += 1
            continue
        if gone_between:
            there = [version for version, ids in tried.items() if name.id in ids]
            print(f"versions: {package}: {name.id} disappeared and returned; it is in {', '.join(there)}")
        entries.append(made)
    return entries, nowhere


def confirm(versions, names, answers):
    """Counts the names on which JAX's sources and imported JAX disagree in these releases."""
    of_jax = [name for name in names if name.package == "jax"]
    wrong = 0
    for version in versions:
        read = answers.of("jax", version, of_jax)
        try:
            imported = import_jax(answers.registry, version, of_jax)
        except NotTried as reason:
            print(f"versions: jax {version}: {reason}")
            continue
        differing = [name for name in imported if imported[name] != (name in read)]
        for name in differing:
            print(f"versions: FAILED: jax {version}: {name} {'exists' if imported[name] else 'does not exist'}, but the source reader disagrees")
        print(f"versions: jax {version}: {len(imported)} names, {len(differing)} read incorrectly", flush=True)
        wrong += len(differing)
    return wrong


def show(package, versions, names, answers):
    """Prints which of a package's names exist in these releases."""
    of_package = [name for name in names if name.package == package]
    for version in versions:
        existing = answers.of(package, version, of_package)
        for name in of_package if existing is not None else ():
            print(version, name.id, "exists" if name.id in existing else "-", sep="\t")


def for_rule_data(entries):
    """Yields the entries for the rule data: unambiguous names that are missing in a release that is still in use."""
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
    rules.write_text(f'{{\n  "$schema": "schema.json",\n  "format": "whyoom.rules/1",\n  "versions": [\n{lines_of(for_rule_data(entries))}\n  ]\n}}\n')


def check(names, entries, rules):
    """Yields errors: names without an entry, entries without a name, and rule data that differs."""
    if json.loads(rules.read_text())["versions"] != list(for_rule_data(entries)):
        yield f"{rules.name} of the rule data is outdated; run versions.py again"
    named = {(name.package, name.id) for name in names}
    listed = [(made["package"], made["id"]) for made in entries]
    for package, text_name in sorted(named - set(listed)):
        yield f"{text_name} ({package}) has no entry; run versions.py --package {package}"
    for package, text_name in sorted(set(listed) - named):
        yield f"{text_name} ({package}) is in no text anymore; run versions.py --package {package}"
    if listed != sorted(set(listed)):
        yield "entries are not sorted by package and id, or are duplicated"


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=pathlib.Path, default=RULES, metavar="DIR")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="write FILE instead of versions.json in this folder")
    parser.add_argument("--check", action="store_true", help="compare the file with the names, without network access")
    parser.add_argument("--list", action="store_true", help="list the names and how each is tested")
    parser.add_argument("--package", action="append", metavar="NAME", help="only this package (repeatable)")
    parser.add_argument("--versions", metavar="V,V", help="print which names exist in these releases of one package")
    parser.add_argument("--confirm", metavar="V,V", help="compare the source reader's results with these releases of JAX when imported")
    parser.add_argument("--step", type=int, default=5, metavar="N", help="test every N-th release, and bisect between two that differ (default: 5)")
    parser.add_argument("--python", action="append", metavar="PROGRAM", help="a Python to download releases for, the preferred one first (repeatable)")
    parser.add_argument("--cache", metavar="DIR", help="store results in DIR")
    parser.add_argument("--keep", action="store_true", help="also keep wheels in the cache")
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
        print(f"versions: {len(entries)} entries, {len(complaints)} errors")
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
