"""What the jobs of one layer measured, joined in a fixed order: how the work was cut changes no bit."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import with_whole_layer
from attnlimit.sampling.errors import group_gram, limit_scale, sampling_error
from attnlimit.sampling.joining import MOMENTS, join_parts, merged_moments

LIMIT_PART = (*MOMENTS, "fourth_moment", "output_shift", "centre")  # of a part: what the limit is merged from


def merge_limits(parts: list[xr.Dataset], queries: int, population: int) -> xr.Dataset:
    """The limit of a layer from the parts of its jobs, block by block in their fixed order."""
    joined = join_parts([part[list(LIMIT_PART)] for part in parts], "block", ("output_shift", "centre"))
    whole = merged_moments(joined)
    mean_se, cov_se = sampling_error(whole, joined["fourth_moment"].sum("block").values, queries, population)
    return xr.Dataset(
        {
            "limit_mean": ("feature", whole.mean + joined["output_shift"].values),
            "limit_covariance": (("feature", "feature_2"), whole.covariance),
            "centre": ("feature", joined["centre"].values),
            "limit_mean_se": ("head", mean_se),
            "limit_covariance_se": ("head", cov_se),
        },
        coords={"head": with_whole_layer(len(mean_se) - 1)},
    )


def merge_surrogate(parts: list[xr.Dataset], fitted: xr.Dataset) -> xr.Dataset:
    """The limit of a layer from the moments of a surrogate g over the population, chunk by chunk, and its correction.

    With Y the exact outputs and all about a reference point:  E[Y] = E[g] + E[Y - g],
    cov Y = E[g g^T] + E[Y Y^T - g g^T] - E[Y] E[Y]^T.
    """
    whole = merged_moments(join_parts(parts, "chunk"))
    step = whole.mean - fitted["reference"].values
    mean = step + fitted["residual_mean"].values
    second = whole.covariance + np.outer(step, step) + fitted["residual_second"].values
    kept = fitted[["centre", "limit_mean_se", "limit_covariance_se", "residual_share"]].rename(unit="head")
    return kept.assign(
        limit_mean=("feature", mean + fitted["reference"].values + fitted["output_shift"].values),
        limit_covariance=(("feature", "feature_2"), second - np.outer(mean, mean)),
    )


def merge_errors(
    parts: list[xr.Dataset], limit: xr.Dataset, geometry: xr.Dataset, value_variances: np.ndarray
) -> xr.Dataset:
    """The errors of a layer with their scales and the couplings of its heads.

    Of the differences to the limit, group by group, only what bias and fluctuation need is kept: inner products.
    value_variances (head,) are tr V Sigma V^T of each head. They come from the caller: geometry.py, imported here,
    would make its every edit rerun merge_limits and so all of measure_errors.
    """
    raw = join_parts([part[["error"]] for part in parts], "replicate")
    heads = len(value_variances)
    condensed: dict[str, tuple] = {}
    for name in ("mean", "cov"):
        differences = np.concatenate([part[f"{name}_difference"].values for part in parts])  # (group, n, feature, …)
        condensed[f"{name}_gram"] = (("head", "n", "group", "group_2"), group_gram(differences, heads))
        features = ("feature", "feature_2")[: differences.ndim - 2]
        condensed[f"{name}_difference"] = (("n", *features), differences.mean(0, dtype=np.float64))
    scales = limit_scale(value_variances, limit["limit_covariance"].values, heads)
    condensed["limit_scale"] = (("statistic", "head"), scales)
    mean_se, cov_se = (limit[f"limit_{moment}_se"].values for moment in ("mean", "covariance"))
    # The spectral norm's is at most the Frobenius norm's.
    condensed["limit_se"] = (("statistic", "head"), np.stack([mean_se, cov_se, cov_se]))
    return raw.assign(condensed).assign(geometry.drop_dims("feature"))
