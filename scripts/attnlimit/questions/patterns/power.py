"""Could the claims on sparse attention have failed?  Planted rates, and planted scores, of heads in a few blocks."""

import numpy as np
import torch
import xarray as xr
from scipy.special import stdtrit

from attnlimit.attention.patterns import smallest_mass
from attnlimit.questions.patterns.fit import of_scores
from attnlimit.questions.patterns.measure import gaussian_scores, score_law, stacked
from attnlimit.stats.planted import default_config

TESTED, NOISE = 24, 0.02  # heads for which theory asks for a rate; standard deviation of the rate of one block
SLOWER = 0.4
QUERIES, SPREADS = 16, (1.1, 1.9)  # of planted scores: of a block's 512 queries, which share keys, so many count


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


def planted_scores(
    law: str, stream: np.random.Generator, spreads: tuple[float, float] = SPREADS, heads=12, blocks=10, length=512
) -> xr.Dataset:
    """What is made of independent scores of this law, "normal" or "laplace", standard deviations between these."""
    spread, found = np.linspace(spreads[0], spreads[1], heads)[:, None, None], []
    for _ in range(blocks):
        drawn = getattr(stream, law)(size=(heads, QUERIES, length))
        scores = torch.as_tensor(spread * drawn / drawn.std(-1, keepdims=True))
        found.append(score_law([gaussian_scores(scores, smallest_mass(scores))]))
    return of_scores(stacked(found)).expand_dims(layer=[0]).assign_attrs(blocks=blocks)


def patterns_top_law(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Normal scores, or scores of Laplace's law with the same standard deviations."""
    config = default_config()
    blocks, length = config["measure_patterns"]["blocks"], config["tokenize_corpus"]["block"]
    return {"patterns": planted_scores("normal" if truth else "laplace", stream, blocks=blocks, length=length)}


POWER = {
    "patterns_random_rate": (f"one head in five has a rate of {SLOWER}", patterns_random_rate),
    "patterns_top_law": ("scores have Laplace's law, with the same standard deviations", patterns_top_law),
}
