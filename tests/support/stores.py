"""Stores that a test makes up."""

from pathlib import Path

import xarray as xr

from attnlimit.base import store


def write(dataset: xr.Dataset, path: str | Path, **attrs) -> None:
    """A store whose variables are described by their names."""
    store.write(dataset, path, {str(name): f"words of {name}" for name in dataset.variables}, **attrs)
