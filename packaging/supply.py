#!/usr/bin/env python3
"""Lists the libraries linked into a whyoom program: library, Debian package, version, and known vulnerabilities.

    packaging/supply.py PROGRAM [--tracker FILE] [--json]

For a dynamic program, lists the libraries that the loader finds; for the static one, the packages of cmake/Static.cmake in their installed
versions. Vulnerabilities come from Debian's security tracker for this release: from a copy of its data (data/json) given by --tracker, or
downloaded. Without either, they are listed as unknown.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRACKER = "https://security-tracker.debian.org/tracker/data/json"


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def loaded_libraries(program):
    return sorted({pathlib.Path(match).resolve() for match in re.findall(r"(?:=> |^\s)(/\S+)", output("ldd", program), re.MULTILINE)})


def static_packages():
    text = (ROOT / "cmake/Static.cmake").read_text()
    return re.search(r"set\(WHYOOM_STATIC_PARTS\s+([^)]*)\)", text).group(1).split()


def package_of(path):
    for name in (str(path), str(path).removeprefix("/usr")):
        found = output("dpkg", "-S", name)
        if found:
            return found.split(":")[0]
    return ""


def about(package, arch=""):
    """Returns version and source package of an installed package, preferably of the Debian architecture `arch`."""
    for name in (f"{package}:{arch}" if arch else package, package):
        fields = output("dpkg-query", "-W", "-f", "${Version}\t${source:Package}\n", name).split("\n")[0].split("\t")
        if fields[0]:
            return (fields + [""])[:2]
    return ["", ""]


def tracker(path):
    try:
        if path:
            return json.loads(pathlib.Path(path).read_text())
        with urllib.request.urlopen(TRACKER, timeout=20) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None


def holes(data, source, release):
    if data is None:
        return None
    known = []
    for name, hole in data.get(source, {}).items():
        state = hole.get("releases", {}).get(release)
        if state and state.get("status") == "open":
            known.append(f"{name} ({state.get('urgency', 'urgency unknown')})")
    return sorted(known)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--tracker")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    release = re.search(r"VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text())
    release = release.group(1) if release else "bookworm"
    libraries = loaded_libraries(options.program)
    parts = [(path.name, package_of(path)) for path in libraries] if libraries else [("(static)", package) for package in static_packages()]
    data = tracker(options.tracker)
    rows = []
    for library, package in parts:
        version, source = about(package) if package else ("", "")
        rows.append({"library": library, "package": package or None, "version": version or None, "source": source or None,
                     "holes": holes(data, source, release) if source else None})
    if options.json:
        json.dump({"release": release, "parts": rows}, sys.stdout, indent=2)
        print()
        return
    for row in rows:
        known = "unknown: the tracker's data is not available" if row["holes"] is None else ", ".join(row["holes"]) or "none open"
        print(f"{row['library']:28} {row['package'] or 'no package':22} {row['version'] or '?':28} {known}")


if __name__ == "__main__":
    main()
