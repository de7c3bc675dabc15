"""Unpack a checked archive into an empty folder: `python -m attnlimit.archive.restore archive.tar.zst folder`."""

import argparse
from pathlib import Path

from attnlimit.archive.bundle import restore
from attnlimit.base.log import one_line_errors


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.archive.restore", description=__doc__)
    parser.add_argument("archive", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    with one_line_errors():
        absent = restore(given.archive, given.folder)
    print(f"{given.folder}: restored; `make setup` there, then `.venv/bin/snakemake -n` has nothing to do")
    for name, why in absent.items():
        print(f"not in the archive: {name} ({why})")


if __name__ == "__main__":
    main()
