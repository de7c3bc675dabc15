"""Rank correlations: by hand, against scipy, and with intervals that know what fits share."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from attnlimit.stats.order import Resampling, correlated, order, partly_ranked, ranked, ranks_within

RESAMPLING = Resampling(1000, 1)


def table(layers=6, heads=12, shared=0.0, slope=0.0, seed=0) -> pd.DataFrame:
    """beta with noise of its own and noise that goes with H in a layer's own direction, which its heads share."""
    stream = np.random.default_rng(seed)
    horizon = stream.normal(size=(layers, heads))
    direction = slope + shared * stream.normal(size=(layers, 1))
    beta = direction * horizon + stream.normal(size=horizon.shape)
    columns = {"beta": beta, "horizon": horizon, "constant_tilt": stream.normal(size=horizon.shape)}
    layer = np.broadcast_to(np.arange(layers)[:, None], horizon.shape)
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()} | {"layer": layer.ravel()})


def test_the_estimate_is_spearmans():
    fits = table(slope=-1)
    expected = spearmanr(fits["beta"], fits["horizon"]).statistic
    assert order(fits, ranked("horizon"), "layer", RESAMPLING).correlation == pytest.approx(expected)


def test_the_partial_correlation_by_regression_of_ranks():
    fits = table(slope=-1)
    fits["constant_tilt"] += fits["horizon"]
    ranks = fits.rank()
    design = np.stack([np.ones(len(ranks)), ranks["constant_tilt"]], axis=1)
    residuals = [
        ranks[name] - design @ np.linalg.lstsq(design, ranks[name], rcond=None)[0] for name in ("beta", "horizon")
    ]
    found = order(fits, partly_ranked("horizon", "constant_tilt"), "layer", RESAMPLING)
    assert found.correlation == pytest.approx(np.corrcoef(residuals)[0, 1])


def test_ranks_within_groups_by_hand():
    """Two groups, each with beta against H in the opposite order, far apart: -1 within, though +0.6 over all."""
    fits = pd.DataFrame({"beta": [2.0, 1, 12, 11], "horizon": [1.0, 2, 11, 12], "layer": [0, 0, 1, 1]})
    assert order(ranks_within(fits, "layer"), correlated("horizon"), "layer", RESAMPLING).correlation == pytest.approx(
        -1
    )
    assert order(fits, ranked("horizon"), "layer", RESAMPLING).correlation == pytest.approx(0.6)


def test_one_group_has_no_interval_and_none_no_number():
    found = order(table(layers=1), ranked("horizon"), "layer", RESAMPLING)
    assert np.isfinite(found.correlation) and np.isnan(found.low) and found.groups == 1
    assert np.isnan(order(table()[:0], ranked("horizon"), "layer", RESAMPLING).correlation)


def test_the_interval_is_wider_where_layers_differ():
    alike, apart = (order(table(shared=shared), ranked("horizon"), "layer", RESAMPLING) for shared in (0.0, 1.0))
    assert apart.high - apart.low > 1.3 * (alike.high - alike.low)


def test_intervals_cover_where_single_fits_would_not():
    """No order on average, six layers, each with a direction of its own: 80 truths, standard error 2.5 %."""
    missed, naive = 0, 0
    for seed in range(80):
        fits = table(shared=0.8, seed=seed)
        found = order(fits, ranked("horizon"), "layer", Resampling(300, seed))
        missed += not found.low <= 0 <= found.high
        naive += abs(np.arctanh(found.correlation)) > 1.96 / np.sqrt(len(fits) - 3)
    assert missed <= 9
    assert naive > 20
