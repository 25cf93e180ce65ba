#!/usr/bin/env python3
"""Packs a folder into a reproducible .tar.gz: packaging/pack.py PARENT NAME FILE

Names are sorted, owners are removed, and all times are SOURCE_DATE_EPOCH (default 0).
"""

import gzip
import os
import pathlib
import sys
import tarfile


def main():
    parent, name, output = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    when = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))

    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = when
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with open(output, "wb") as file, gzip.GzipFile("", "wb", 9, file, when) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(parent / name, name, recursive=False, filter=plain)
        for path in sorted((parent / name).rglob("*")):
            archive.add(path, path.relative_to(parent).as_posix(), recursive=False, filter=plain)


if __name__ == "__main__":
    main()
