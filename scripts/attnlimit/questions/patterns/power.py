"""Could the claim on random keys have failed?  Planted rates of heads, with intervals over blocks."""

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from attnlimit.stats.planted import default_config

TESTED, NOISE = 24, 0.02  # heads for which theory asks for a rate; standard deviation of the rate of one block
SLOWER = 0.4


def planted(beta=0.5, half=0.005, tested=10, blocks=10, off=None, layers=2, heads=12) -> xr.Dataset:
    """Sparse attention: heads with this late rate, `off` that of the first, the others not asked for one."""
    shape = layers, heads
    late = np.full(shape, np.nan)
    late.flat[:tested] = beta
    late.flat[0] = late.flat[0] if off is None else off
    data = xr.Dataset(coords={"layer": range(layers), "head": range(heads), "n": [64, 512, 8192]})
    data["late_beta"], data["late_beta_low"], data["late_beta_high"] = (
        (("layer", "head"), late + shift) for shift in (0, -half, half)
    )
    data["theory_from"] = (("layer", "head"), np.where(np.isfinite(late), 512, np.nan))
    data["theory_value"] = (("layer", "head", "n"), np.ones((*shape, 3)))
    where = {"statistic": ["pointwise"], "pattern": ["random"]}
    ones = xr.DataArray(np.ones((*shape, 3, 1, 1)), {**data.coords, **where}, ["layer", "head", "n", *where])
    return data.assign(value=ones, beta=0.4 * ones.isel(n=0, drop=True)).assign_attrs(blocks=blocks, block=512)


def patterns_random_rate(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Rates of blocks around 1/2; in one head in five, or none, around a slower rate."""
    blocks = default_config()["measure_patterns"]["blocks"]
    slower = np.where((np.arange(TESTED) % 5 == 4) & (not truth), SLOWER, 0.5)
    rates = slower + NOISE * stream.normal(size=(blocks, TESTED))
    half = stdtrit(blocks - 1, 0.975) * np.median(rates.std(0, ddof=1)) / np.sqrt(blocks)
    return {"patterns": planted(rates.mean(0), half, TESTED, blocks)}


POWER = {"patterns_random_rate": (f"one head in five has a rate of {SLOWER}", patterns_random_rate)}
