"""Fits as the default run would make them if the claim held, and under an alternative: how often each is recognised."""

import numpy as np
import xarray as xr

from attnlimit.questions.hardmax.fit import hardmax_summary
from attnlimit.questions.hardmax.measure import simulate
from attnlimit.stats.planted import default_config
from attnlimit.theory.hardmax import hardmax_error

LARGEST = default_config()["fit_hardmax"]["log10_largest"]
NOT_JUDGED = {"plane_replicates": 2, "dimensions": [2], "direct_sizes": [8, 16, 32], "direct_replicates": 2}
OPTIONS = default_config()["simulate_hardmax"] | NOT_JUDGED
HIDDEN = 1e-4  # power of n of the alternative


def simulated_fits(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Draws of the hardmax, their error and its expectation times n^-0.0001 under the alternative."""
    errors = simulate(OPTIONS, int(stream.integers(2**31))).assign_attrs(sigma=OPTIONS["sigma"])
    power = 0.0 if truth else HIDDEN
    errors["line_error"] = errors["line_error"] * errors["n"] ** -power
    return {"hardmax": hardmax_summary(errors, LARGEST, lambda log_n, sigma: lowered(log_n, sigma, power))}


def lowered(log_n: float, sigma: float, power: float) -> float:
    return hardmax_error(log_n, sigma) * float(np.exp(-power * log_n))


POWER = {"hardmax_logarithm": ("a further factor n^−0.0001, which no draw could show", simulated_fits)}
