#!/usr/bin/env python3
"""Writes the parts list (SBOM, CycloneDX 1.5) of a release's archive: packaging/sbom.py ARCHIVE > whyoom-….cdx.json

To be run where the archive was built: the static program consists of the Debian packages that cmake/Static.cmake names, in the versions
that are installed there. For one that was built elsewhere (macOS) it fails rather than say something.
"""

import hashlib
import json
import pathlib
import re
import sys
import uuid

import supply

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}


def licences(package):
    """The names in its Debian copyright file, where that is of the form that machines read."""
    try:
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
    except OSError:
        return []
    return sorted(set(re.findall(r"^License: *(\S.*?) *$", text, re.MULTILINE)))


def component(package, arch):
    version, source = supply.about(package, arch)
    if not version:
        sys.exit(f"packaging/sbom.py: {package} is not installed here, so its version is not known")
    purl = f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={arch}"
    named = [{"license": {"name": name}} for name in licences(package)]
    return {"type": "library", "bom-ref": purl, "name": package, "version": version, "purl": purl,
            **({"licenses": named} if named else {}), "properties": [{"name": "debian:source", "value": source}]}  # fmt: skip


def main():
    archive = pathlib.Path(sys.argv[1])
    match = re.fullmatch(r"whyoom-([^-]+)-linux-(x86_64|aarch64)\.tar\.gz", archive.name)
    if not match:
        sys.exit("packaging/sbom.py: an archive for Linux is wanted, as whyoom-0.1.0-linux-x86_64.tar.gz")
    version, arch = match[1], DEBIAN[match[2]]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    this = f"pkg:generic/whyoom@{version}?arch={match[2]}&os=linux"
    parts = [component(package, arch) for package in supply.static_packages()]
    json.dump({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, this + digest)}",  # the same archive, the same list
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": this, "name": "whyoom", "version": version, "purl": this,
            "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": digest}]}},
        "components": parts,
        "dependencies": [{"ref": this, "dependsOn": [part["bom-ref"] for part in parts]}],
    }, sys.stdout, indent=2)  # fmt: skip
    print()


if __name__ == "__main__":
    main()
