"""What the jobs of one layer measured, joined in a fixed order: how the work was cut changes no bit."""

import numpy as np
import xarray as xr

from attnlimit.coordinates import STATISTICS, WHOLE_LAYER
from attnlimit.experiments.errors import group_gram, limit_scale, sampling_error
from attnlimit.theory.geometry import value_variance
from attnlimit.theory.moments import Moments, merge_all


def merge_limits(parts: list[xr.Dataset], queries: int, population: int) -> xr.Dataset:
    """The limit of a layer from the parts of its jobs, block by block in their fixed order."""
    joined = xr.concat([part.drop_vars(["output_shift", "centre"]) for part in parts], "block")
    whole = merge_all(Moments(*block) for block in zip(*(joined[name].values for name in Moments._fields), strict=True))
    mean_se, cov_se = sampling_error(whole, joined["fourth_moment"].sum("block").values, queries, population)
    return xr.Dataset(
        {
            "mean": ("feature", whole.mean + parts[0]["output_shift"].values),
            "covariance": (("feature", "feature_2"), whole.covariance),
            "mean_se": ("head", mean_se),
            "cov_se": ("head", cov_se),
            "centre": ("feature", parts[0]["centre"].values),
        },
        coords={"head": [*range(len(mean_se) - 1), WHOLE_LAYER]},
    )


def merge_errors(
    parts: list[xr.Dataset], limit: xr.Dataset, geometry: xr.Dataset, value_weight: np.ndarray
) -> xr.Dataset:
    """The errors of a layer with their scales and the couplings of its heads.

    Of the differences to the limit, group by group, only what bias and fluctuation need is kept: inner products.
    value_weight (head, width, feature) are the layer's.
    """
    raw = xr.concat([part[list(STATISTICS)] for part in parts], "replicate")
    heads = len(value_weight)
    condensed: dict[str, tuple] = {}
    for name in ("mean", "cov"):
        differences = np.concatenate([part[f"{name}_difference"].values for part in parts])  # (group, n, feature, …)
        condensed[f"{name}_gram"] = (("head", "n", "group", "group_2"), group_gram(differences, heads))
        features = ("feature", "feature_2")[: differences.ndim - 2]
        condensed[f"{name}_difference"] = (("n", *features), differences.mean(0, dtype=np.float64))
    spread = value_variance(value_weight, geometry["token_covariance"].values)  # (head,)
    scales = limit_scale(spread, limit["covariance"].values, heads)
    condensed |= {f"{name}_scale": ("head", scale) for name, scale in scales.items()}
    ses = {"mean": limit["mean_se"], "cov": limit["cov_se"], "cov_spectral": limit["cov_se"]}  # the last: at most this
    condensed |= {f"{name}_limit_se": ("head", se.values) for name, se in ses.items()}
    couplings = geometry.drop_dims("feature").reindex(head=raw["head"])  # the whole layer has none of its own: NaN
    return raw.assign(condensed).assign(couplings)
