"""Two runs compared value by value: `PYTHONPATH=scripts python tests/support/compare_runs.py before after`.

For a change that must keep every number: what only one run has is named, what differs is named with by how much.

A run of the code before the whole layer became one more entry along `head` is read as if it had that form:

    layer_x (…)                 the entry -1, last along head, of x (…, head)
    other variables with head   NaN at -1 (a whole layer has no horizon)
    limits/surrogate            x (unit) in place of x (head) and layer_x
    rates/bert, source bert     rates/heads, source heads
"""

import sys
from pathlib import Path

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import WHOLE_LAYER
from attnlimit.base.store import read

OWN = ("code", "versions")  # attrs that a change of the code may change
WHOLE = "layer_"
RENAMED = {"rates/heads.zarr.zip": "rates/bert.zarr.zip"}  # store: what it was called


def in_one_form(dataset: xr.Dataset, unit: str) -> xr.Dataset:
    """A store of the old form, with layer_x as the last entry of x along `unit`; one of the new form as it is."""
    dataset = dataset.assign_attrs({"source": "heads"} if dataset.attrs.get("source") == "bert" else {})
    wholes = {str(name).removeprefix(WHOLE): array for name, array in dataset.items() if str(name).startswith(WHOLE)}
    if not wholes:
        return dataset
    both = {
        name: xr.concat([dataset[name], whole.expand_dims(head=[WHOLE_LAYER])], "head").transpose(*dataset[name].dims)
        for name, whole in wholes.items()
    }
    rest = dataset.drop_vars([name for name in dataset.data_vars if str(name).removeprefix(WHOLE) in both])
    if unit == "head":
        rest = rest.reindex(head=next(iter(both.values()))["head"]) if "head" in rest.dims else rest.drop_vars("head")
    return rest.assign({name: array.rename(head=unit) for name, array in both.items()})


def differences(before: xr.Dataset, after: xr.Dataset) -> list[str]:
    """What is not the same in two stores, one line each."""
    before = in_one_form(before, "unit" if "unit" in after.dims else "head")
    lines = [f"{name}: only before" for name in sorted(set(before.variables) - set(after.variables))]
    lines += [f"{name}: only after" for name in sorted(set(after.variables) - set(before.variables))]
    for name in sorted(set(before.variables) & set(after.variables)):
        old, new = before[name], after[name]
        if old.dims != new.dims or old.shape != new.shape or old.dtype != new.dtype:
            lines.append(f"{name}: {old.dims} {old.shape} {old.dtype}, now {new.dims} {new.shape} {new.dtype}")
        elif not np.array_equal(old.values, new.values, equal_nan=old.dtype.kind == "f"):
            scale = np.nanmax(np.abs(old.values)) or 1
            lines.append(f"{name}: by up to {np.nanmax(np.abs(new.values - old.values)) / scale:.1e} of its largest")
    for name in sorted((before.attrs.keys() | after.attrs.keys()) - set(OWN)):
        old, new = before.attrs.get(name), after.attrs.get(name)
        if old != new:
            lines.append(f"attr {name}: {old!r:.60}, now {new!r:.60}")
    return lines


def main(before: Path, after: Path) -> None:
    old, new = ({str(path.relative_to(folder)) for path in folder.rglob("*.zarr.zip")} for folder in (before, after))
    pairs = {name: name if name in old else RENAMED.get(name, name) for name in new}  # after: before
    for name in sorted(old - set(pairs.values())):
        print(f"{name}: only before")
    same, both = 0, {name: was for name, was in pairs.items() if was in old}
    for name in sorted(pairs):
        lines = differences(read(before / both[name]), read(after / name)) if name in both else ["only after"]
        same += not lines
        for line in lines:
            print(f"{name}: {line}")
    print(f"{same} of {len(both)} stores are the same in every value")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
