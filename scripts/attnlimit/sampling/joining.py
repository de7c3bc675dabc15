"""The parts of a simulation side by side: each job measured some of its settings."""

import xarray as xr


def join_settings(parts: list[xr.Dataset]) -> xr.Dataset:
    """All settings in the order of the parts: a setting's draws have its name for address, so the cut changes no bit.

    Parts that differ in sizes or replicates are refused: they are of two configs.
    """
    return xr.concat(parts, "setting", join="exact", data_vars="all", coords="minimal", compat="equals")
