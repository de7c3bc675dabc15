"""What an experiment on settings stores: the errors of each setting, in the layout that fit_errors reads."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import STATISTICS
from attnlimit.base.log import bar
from attnlimit.sampling.errors import group_gram, limit_scale, replicate_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.theory.moments import Moments

DIMENSIONS: dict[str, tuple[str, ...]] = {"error": ("statistic", "replicate", "n"), "limit_scale": ("statistic",)}
DIMENSIONS |= dict.fromkeys(("mean_wide_bins", "cov_wide_bins"), ("replicate", "n"))
DIMENSIONS |= dict.fromkeys(("mean_gram", "cov_gram"), ("n", "group", "group_2"))
DIMENSIONS |= dict.fromkeys(("mean_discretisation", "cov_discretisation"), ("n",))
Kept = dict[str, Any]  # of one setting: arrays as in DIMENSIONS, and single numbers


def measure_settings(settings: list, errors_of: Callable, protocol: Protocol, name: str) -> xr.Dataset:
    """Errors of every setting, one after the other, with a progress bar of that name."""
    shown = bar(settings, total=len(settings), unit="settings", name=name)
    kept = [errors_of(setting, protocol) for setting in shown]
    return stack(kept, [setting.name for setting in settings], protocol.sizes)


def setting_errors(
    samples: Iterable[Iterable[Moments]],
    limit_mean: np.ndarray,
    limit_covariance: np.ndarray,
    value_variance: np.ndarray | float,
    couplings: dict[str, float],
    group: int,
) -> Kept:
    """All that is kept of one setting; samples yields, for each replicate, its moments at each size.

    error (statistic, replicate, n), {mean,cov}_gram (n, group, group), limit_scale (statistic) and the couplings.
    value_variance is tr V Sigma V^T, which gives the mean its scale.
    """
    measured = replicate_errors(samples, limit_mean, limit_covariance, 0, group)
    return (
        {"error": measured["error"][:, 0]}
        | {f"{name}_gram": group_gram(measured[f"{name}_difference"], 0)[0] for name in ("mean", "cov")}
        | {"limit_scale": limit_scale(np.array([value_variance]), limit_covariance, 0)[:, 0]}
        | couplings
    )


def stack(settings: list[Kept], names: list[str], sizes: list[int]) -> xr.Dataset:
    """Settings along the dimension `setting`, by name; what is not in DIMENSIONS is one number a setting."""
    return xr.Dataset(
        {
            name: (("setting", *DIMENSIONS.get(name, ())), np.stack([setting[name] for setting in settings]))
            for name in settings[0]
        },
        coords={
            "setting": names,
            "statistic": list(STATISTICS),
            "n": sizes,
            "replicate": range(settings[0]["error"].shape[1]),
            "group": range(settings[0]["mean_gram"].shape[1]),
        },
    )
