"""Check or unpack an archive: `python -m attnlimit.archive.commands restore results/attnlimit.tar.zst folder`."""

import argparse
from collections import Counter
from pathlib import Path

from attnlimit.archive.bag import files_below
from attnlimit.archive.bundle import restore, verified
from attnlimit.base.files import sha256_of
from attnlimit.base.log import counted, one_line_errors


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.archive.commands", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("verify", help="check an archive").add_argument("archive", type=Path)
    unpack = commands.add_parser("restore", help="unpack a checked archive into an empty folder")
    unpack.add_argument("archive", type=Path)
    unpack.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    with one_line_errors():
        if given.command == "verify":
            verify(given.archive)
            return
        absent = restore(given.archive, given.folder)
    print(f"{given.folder}: restored; `make plan` there has nothing to do")
    if absent:
        whys = "; ".join(f"{count:,} × {why}" for why, count in Counter(absent.values()).items())
        listed = given.folder / "provenance/data.json"
        print(f"not in the archive: {counted(len(absent), 'file')}, listed in {listed}: {whys}")


def verify(path: Path) -> None:
    with verified(path) as contents:
        files = files_below(contents.payload)
        stores = sum(name.endswith(".zarr.zip") for name in files)
    held = f"{counted(len(files), 'file')} as in the manifest, {counted(len(contents.jobs), 'job')}"
    print(f"{path}: intact; {held}, {counted(stores, 'store')} readable")
    print(f"sha256 {sha256_of(path)}")


if __name__ == "__main__":
    main()
