#!/usr/bin/env python3
"""Writes the SBOM (CycloneDX 1.5) of a release archive: packaging/sbom.py ARCHIVE > whyoom-….cdx.json

Run it on the machine that built the archive: it lists the Debian packages of cmake/Static.cmake in their installed versions. It fails for
archives from other systems (macOS).
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
    """Returns the licence names in the Debian copyright file if it is machine-readable, otherwise an empty list."""
    try:
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
    except OSError:
        return []
    return sorted(set(re.findall(r"^License: *(\S.*?) *$", text, re.MULTILINE)))


def component(package, arch):
    version, source = supply.about(package, arch)
    if not version:
        sys.exit(f"packaging/sbom.py: {package} is not installed, so its version is unknown")
    purl = f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={arch}"
    named = [{"license": {"name": name}} for name in licences(package)]
    return {"type": "library", "bom-ref": purl, "name": package, "version": version, "purl": purl,
            **({"licenses": named} if named else {}), "properties": [{"name": "debian:source", "value": source}]}  # fmt: skip


def main():
    archive = pathlib.Path(sys.argv[1])
    match = re.fullmatch(r"whyoom-([^-]+)-linux-(x86_64|aarch64)\.tar\.gz", archive.name)
    if not match:
        sys.exit("packaging/sbom.py: not an archive for Linux (expected, for example, whyoom-0.1.0-linux-x86_64.tar.gz)")
    version, arch = match[1], DEBIAN[match[2]]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    this = f"pkg:generic/whyoom@{version}?arch={match[2]}&os=linux"
    parts = [component(package, arch) for package in supply.static_packages()]
    json.dump({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, this + digest)}",  # reproducible
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
