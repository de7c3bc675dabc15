"""Rank correlations against scipy and a regression of ranks."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from attnlimit.stats.order import partly_ranked, ranked


def table(seed=0) -> pd.DataFrame:
    """beta that falls with H, with noise."""
    horizon, noise, tilt = np.random.default_rng(seed).normal(size=(3, 72))
    return pd.DataFrame({"beta": noise - horizon, "horizon": horizon, "constant_tilt": tilt + horizon})


def columns(fits: pd.DataFrame) -> dict[str, np.ndarray]:
    return {name: fits[name].to_numpy() for name in fits}


def test_the_estimate_is_spearmans():
    fits = table()
    expected = spearmanr(fits["beta"], fits["horizon"]).statistic
    assert ranked("horizon")(columns(fits)) == pytest.approx(expected)


def test_the_partial_correlation_by_regression_of_ranks():
    fits = table()
    ranks = fits.rank()
    design = np.stack([np.ones(len(ranks)), ranks["constant_tilt"]], axis=1)
    residuals = [
        ranks[name] - design @ np.linalg.lstsq(design, ranks[name], rcond=None)[0] for name in ("beta", "horizon")
    ]
    found = partly_ranked("horizon", "constant_tilt")(columns(fits))
    assert found == pytest.approx(np.corrcoef(residuals)[0, 1])
