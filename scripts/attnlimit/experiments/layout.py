"""What an experiment on settings stores: the errors of each setting, in the layout that fit_errors reads."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import xarray as xr

from attnlimit.coordinates import STATISTICS
from attnlimit.experiments.errors import group_gram, limit_scale, replicate_errors
from attnlimit.experiments.protocol import Protocol
from attnlimit.log import bar
from attnlimit.theory.moments import Moments

DIMENSIONS: dict[str, tuple[str, ...]] = dict.fromkeys(
    (*STATISTICS, "mean_wide_bins", "cov_wide_bins"), ("replicate", "n")
)
DIMENSIONS |= dict.fromkeys(("mean_gram", "cov_gram"), ("n", "group", "group_2"))
DIMENSIONS |= dict.fromkeys(("mean_discretisation", "cov_discretisation"), ("n",))
Kept = dict[str, Any]  # of one setting: arrays as in DIMENSIONS, and single numbers


def measure_settings(settings: list, errors_of: Callable, protocol: Protocol, name: str) -> xr.Dataset:
    """Errors of every setting, one after the other, with a progress bar of that name."""
    kept = [errors_of(setting, protocol) for setting in bar(settings, total=len(settings), unit="settings", name=name)]
    return stack(kept, protocol.sizes)


def setting_errors(
    samples: Iterable[Iterable[Moments]],
    limit_mean: np.ndarray,
    limit_covariance: np.ndarray,
    value_variance: np.ndarray | float,
    couplings: dict[str, float],
    group: int,
) -> Kept:
    """All that is kept of one setting; samples yields, for each replicate, its moments at each size.

    STATISTICS (replicate, n), {mean,cov}_gram (n, group, group), {statistic}_scale and the couplings.
    value_variance is tr V Sigma V^T, which gives the mean its scale.
    """
    measured = replicate_errors(
        samples, limit_mean, limit_covariance, 1, group
    )  # one head, and again as the whole layer
    scales = limit_scale(np.array([value_variance]), limit_covariance, 1)
    return (
        {name: measured[name][0] for name in STATISTICS}
        | {f"{name}_gram": group_gram(measured[f"{name}_difference"], 1)[0] for name in ("mean", "cov")}
        | {f"{name}_scale": scale[0] for name, scale in scales.items()}
        | couplings
    )


def stack(settings: list[Kept], sizes: list[int]) -> xr.Dataset:
    """Settings along the dimension `setting`, in their order; what is not in DIMENSIONS is one number a setting."""
    return xr.Dataset(
        {
            name: (("setting", *DIMENSIONS.get(name, ())), np.stack([setting[name] for setting in settings]))
            for name in settings[0]
        },
        coords={
            "setting": range(len(settings)),
            "n": sizes,
            "replicate": range(len(settings[0]["mean"])),
            "group": range(settings[0]["mean_gram"].shape[1]),
        },
    )
