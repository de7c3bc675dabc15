"""Two runs compared value by value: `PYTHONPATH=scripts python tests/support/compare_runs.py before after`.

For a change that must keep every number: what only one run has is named, what differs is named with by how much.
"""

import sys
from pathlib import Path

import numpy as np
import xarray as xr

from attnlimit.base.store import read

OWN = ("code", "versions")  # attrs that a change of the code may change


def differences(before: xr.Dataset, after: xr.Dataset) -> list[str]:
    """What is not the same in two stores, one line each."""
    lines = [f"{name}: only before" for name in sorted(set(before.variables) - set(after.variables))]
    lines += [f"{name}: only after" for name in sorted(set(after.variables) - set(before.variables))]
    for name in sorted(set(before.variables) & set(after.variables)):
        old, new = before[name], after[name]
        if old.dims != new.dims or old.shape != new.shape or old.dtype != new.dtype:
            lines.append(f"{name}: {old.dims} {old.shape} {old.dtype}, now {new.dims} {new.shape} {new.dtype}")
        elif not np.array_equal(old.values, new.values, equal_nan=old.dtype.kind == "f"):
            if old.dtype.kind not in "biuf":
                lines.append(f"{name}: other words")
                continue
            was, now = (each.values.astype(float) for each in (old, new))
            scale = np.nanmax(np.abs(was)) or 1
            lines.append(f"{name}: by up to {np.nanmax(np.abs(now - was)) / scale:.1e} of its largest")
    for name in sorted((before.attrs.keys() | after.attrs.keys()) - set(OWN)):
        old, new = before.attrs.get(name), after.attrs.get(name)
        if old != new:
            lines.append(f"attr {name}: {old!r:.60}, now {new!r:.60}")
    return lines


def main(before: Path, after: Path) -> None:
    old, new = ({str(path.relative_to(folder)) for path in folder.rglob("*.zarr.zip")} for folder in (before, after))
    same = 0
    for name in sorted(old | new):
        lines = (
            differences(read(before / name), read(after / name))
            if name in old & new
            else [f"only {'before' if name in old else 'after'}"]
        )
        same += not lines
        for line in lines:
            print(f"{name}: {line}")
    print(f"{same} of {len(old & new)} stores are the same in every value")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
