"""Fits of planted rates, with the noise that samples of a run's own sizes have: for the power of verdicts."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import yaml

from attnlimit.base.coordinates import STATISTICS
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap
from attnlimit.theory.bounds import predictions

CONFIG = Path(__file__).parents[3] / "config.yaml"
DRAWS = 100  # of a bootstrap


@cache
def default_config() -> dict[str, Any]:
    """The config of the default run: the power of verdicts is stated for its sizes."""
    return yaml.safe_load(CONFIG.read_text(encoding="utf-8"))


def planted_errors(
    beta: np.ndarray,
    sizes: Sequence[int],
    replicates: int,
    width: int,
    stream: np.random.Generator,
    shared: float = 0.0,
) -> np.ndarray:
    """Errors (…, replicate, n) that fall like n^-beta (…): norms of averages of n normal vectors, times n^(1/2 - beta).

    Sizes are nested, so that an average over n is a walk B(n)/n in R^width; a share of its variance is the same for
    all, as for heads that share their draws.
    """
    n = np.array(sizes, dtype=float)
    steps = np.sqrt(np.diff(n, prepend=0))[:, None]  # (n, 1)

    def walk(*shape: int) -> np.ndarray:
        return np.cumsum(stream.normal(size=(*shape, replicates, len(n), width)) * steps, axis=-2)

    walks = np.sqrt(1 - shared) * walk(*beta.shape) + (np.sqrt(shared) * walk() if shared else 0)
    return np.linalg.norm(walks, axis=-1) * n ** (-0.5 - beta[..., None, None])


def on_curve(horizon: np.ndarray, coefficient: float) -> np.ndarray:
    """Rates 1/2 - c (1/2 - 1/(2(1+H^2))): 1/2 for c = 0, the paper's curve for c = 1."""
    return 0.5 - coefficient * (0.5 - predictions(horizon, horizon**2)["bound_v3"])


def planted_fits(
    beta: np.ndarray,
    horizon: np.ndarray,
    section: Mapping[str, Any],
    width: int,
    stream: np.random.Generator,
    labels: Mapping[str, Any] | None = None,
    errors: np.ndarray | None = None,
    shared: float = 0.0,
) -> xr.Dataset:
    """What fit_rates makes of settings with these rates and horizons, at sizes and replicates of a config section.

    errors (statistic, setting, replicate, n) if they are at hand; else planted, each statistic with noise of its own.
    """
    sizes, replicates, options = section["sizes"], section["replicates"], default_config()["fit_rates"]
    if errors is None:
        every = np.broadcast_to(beta, (len(STATISTICS), len(horizon)))
        errors = planted_errors(every, sizes, replicates, width, stream, shared)
    data = xr.Dataset(
        {
            "error": (("statistic", "setting", "replicate", "n"), errors),
            "limit_scale": (("statistic", "setting"), 100 * errors.mean((-2, -1))),
            "horizon": ("setting", horizon),
            "psi": ("setting", horizon**2),
            "constant_tilt": ("setting", 0 * horizon),
        }
        | {name: ("setting", values) for name, values in (labels or {}).items()},
        coords={"setting": range(len(horizon)), "statistic": list(STATISTICS), "n": sizes},
    )
    marks = [options[name] for name in ("misfit", "saturated", "saturated_slope", "uncertain_limit")]
    bootstraps = [Bootstrap(DRAWS, section.get("nested", True), stream) for _ in STATISTICS]
    return fit_errors(data, bootstraps, *marks).assign_attrs(source="planted", replicates=replicates)
