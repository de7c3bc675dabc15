"""What a comparison reads of one finished run: rates, couplings and tails of each head, and how noisy the rates are."""

from functools import partial

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import heads_only
from attnlimit.sampling.joining import join_parts
from attnlimit.stats.complexity import TOKENS
from attnlimit.stats.estimate import leave_out
from attnlimit.stats.fits import COUPLINGS
from attnlimit.stats.power_law import BETA, fit

COMPARED = ["mean", "cov"]  # statistics
SHARE = 0.05  # eps of the tokens needed
SPLITS = 32  # of the replicates into halves
FIT = (*BETA, "misfit", "saturated", "limit_uncertain", "relative_error", *TOKENS)
LABELS = (*COUPLINGS, "bound_v3")


def gather(
    rates: xr.Dataset, tails: list[xr.Dataset], errors: list[xr.Dataset], stream: np.random.Generator
) -> xr.Dataset:
    """Of one run: its fits, couplings and tails by layer and head, the noise of its rates, and its raw errors.

    rates (layer, …); tails and errors one a layer, in any order.  stream draws the halves.
    """
    layers = rates["layer"].values
    fits = rates[[name for name in (*FIT, *LABELS) if name in rates]]
    fits = fits.sel(statistic=COMPARED, eps=SHARE).drop_vars("eps")
    shapes = join_parts([each[["participation_ratio", "sub_gaussian", "kurtosis"]] for each in tails], "layer")
    raw = join_parts([each[["error"]].sel(statistic=COMPARED) for each in errors], "layer")
    if sorted(map(int, layers)) != sorted(map(int, raw["layer"].values)):
        raise ValueError(f"results/errors: layers {raw['layer'].values.tolist()}, but rates of {layers.tolist()}")
    raw = raw.sel(layer=layers).transpose("layer", "statistic", "head", "replicate", "n")
    noise = noise_of_rates(heads_only(raw), stream)  # NaN for the whole layer
    return xr.merge([fits, shapes.sel(layer=layers), raw, noise.reindex(head=raw["head"])], join="exact")


def noise_of_rates(raw: xr.Dataset, stream: np.random.Generator) -> xr.Dataset:
    """beta_covariance (layer, statistic, head, head_2) and beta_half (split, half, layer, statistic, head).

    raw: error (layer, statistic, head, replicate, n).  Heads of a layer share their draws, so that their rates have a
    covariance; layers have draws of their own.
    """
    sizes, error = raw["n"].values, raw["error"].values
    orders = np.stack([stream.permutation(raw.sizes["replicate"]) for _ in range(SPLITS)])
    covariance = [[jackknife_covariance(sizes, unit) for unit in layer] for layer in error]
    halves = [[split_halves(sizes, unit, orders) for unit in layer] for layer in error]  # (layer, statistic, split, …)
    noise = xr.Dataset(
        {
            "beta_covariance": (("layer", "statistic", "head", "head_2"), np.array(covariance)),
            "beta_half": (("layer", "statistic", "split", "half", "head"), np.array(halves)),
        },
        coords={name: raw[name] for name in ("layer", "statistic", "head")},
    )
    return noise.assign_coords(head_2=raw["head"].values)


def beta_of(sizes: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The rate of the error as fit_rates fits it: errors (head, replicate, n) -> (head,)."""
    value = errors.mean(1)
    return fit(sizes, value, errors.var(1) / errors.shape[1] / value**2)["beta"]


def jackknife_covariance(sizes: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Sampling covariance (head, head) of the rates of errors (head, replicate, n), by leaving out each replicate.

    (k - 1) / k sum_r d_r d_r', d_r the rates without replicate r less their mean over r.  It needs no random draws, and
    holds for nested sizes, where a replicate is one sample, as for independent ones.
    """
    replicates = errors.shape[1]
    left = leave_out(errors, partial(beta_of, sizes), axis=1)
    deviation = left - left.mean(0)  # (replicate, head)
    return (replicates - 1) / replicates * deviation.T @ deviation


def split_halves(sizes: np.ndarray, errors: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Rates (split, half, head) from either half of the replicates, put in each of the orders (split, replicate)."""
    half = orders.shape[1] // 2
    return np.stack(
        [[beta_of(sizes, errors[:, part]) for part in (order[:half], order[half : 2 * half])] for order in orders]
    )
