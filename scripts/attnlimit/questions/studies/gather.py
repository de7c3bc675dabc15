"""What a comparison reads of one finished run: fits, couplings and tails of each head, and its raw errors."""

from collections.abc import Sequence

import xarray as xr

from attnlimit.base.coordinates import heads_only
from attnlimit.sampling.joining import join_parts
from attnlimit.stats.complexity import TOKENS
from attnlimit.stats.estimate import ENDS
from attnlimit.stats.fits import COUPLINGS
from attnlimit.stats.power_law import BETA

COMPARED = ["mean", "cov"]  # statistics
SHARE = 0.05  # eps of the tokens needed
FIT = (*BETA, "misfit", "saturated", "limit_uncertain", "relative_error", *TOKENS)
LABELS = (*COUPLINGS, "bound_v3")
CHANGE = tuple(f"beta_change{end}" for end in ENDS)
TAILS = ["participation_ratio", "sub_gaussian", "kurtosis"]


def gather(
    rates: xr.Dataset, tails: list[xr.Dataset], errors: list[xr.Dataset], interventions: Sequence[xr.Dataset] = ()
) -> xr.Dataset:
    """Of one run, by layer and head: rates (layer, …); tails and errors one a layer, in any order.

    interventions: the fits of that chapter, if the run has it.
    """
    layers = rates["layer"].values
    fits = rates[[name for name in (*FIT, *LABELS) if name in rates]]
    fits = fits.sel(statistic=COMPARED, part="error", eps=SHARE).drop_vars(["part", "eps"])
    shapes = join_parts([heads_only(each[TAILS]) for each in tails], "layer")
    raw = join_parts([heads_only(each[["error", "limit_scale"]].sel(statistic=COMPARED)) for each in errors], "layer")
    if sorted(map(int, layers)) != sorted(map(int, raw["layer"].values)):
        raise ValueError(f"results/errors: layers {raw['layer'].values.tolist()}, but rates of {layers.tolist()}")
    changes = [
        heads_only(each[list(CHANGE)].sel(statistic=COMPARED, layer=layers)).drop_vars(
            ["alpha", "tilt_factor"], errors="ignore"
        )
        for each in interventions
    ]
    return xr.merge([heads_only(fits), shapes.sel(layer=layers), raw.sel(layer=layers), *changes], join="exact")
