"""Check an archive: `python -m attnlimit.archive.verify results/attnlimit.tar.zst`."""

import argparse
from pathlib import Path

from attnlimit.archive.bag import files_below
from attnlimit.archive.bundle import verified
from attnlimit.base.files import sha256_of
from attnlimit.base.log import one_line_errors


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.archive.verify", description=__doc__)
    parser.add_argument("archive", type=Path)
    path = parser.parse_args(arguments).archive
    with one_line_errors(), verified(path) as contents:
        files = files_below(contents.payload)
        stores = sum(name.endswith(".zarr.zip") for name in files)
    print(f"{path}: intact; {len(files)} files as in the manifest, {len(contents.jobs)} jobs, {stores} stores readable")
    print(f"sha256 {sha256_of(path)}")


if __name__ == "__main__":
    main()
