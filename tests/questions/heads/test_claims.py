"""Claims on what orders the heads: planted orders over layers that share their noise, to the verdict."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from attnlimit.questions.heads.claims import heads_above, heads_falls, model_remark, tilt_order
from attnlimit.stats.order import Resampling, ordered_heads
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from attnlimit.theory.bounds import predictions
from support.claims import THRESHOLDS, curve, heuristic, judged, model_rates, rates

LAYERS, HEADS = 8, 12
FACTS = {"population": 50000, "model": {"name": "owner/small"}}
STORE = xr.Dataset(coords={"n": [64]}, attrs=FACTS)


def heads(beta, layers=LAYERS, half=0.01, seed=0, mixed=False) -> pd.DataFrame:
    """Fits of heads whose horizon and tilt have no order, beta(H, s0) with noise."""
    stream = np.random.default_rng(seed)
    count = layers * HEADS
    table = pd.DataFrame({"layer": np.repeat(np.arange(layers), HEADS), "n_min": 64})
    table["horizon"], table["constant_tilt"] = stream.uniform(0.2, 2, count), stream.uniform(0.2, 2, count)
    table["beta"] = beta(table["horizon"], table["constant_tilt"]) + 0.02 * stream.normal(size=count)
    if mixed:  # the other way round in every second layer
        table.loc[table["layer"] % 2 == 1, "beta"] *= -1
    table["beta_low"], table["beta_high"] = table["beta"] - half, table["beta"] + half
    table["bound_v3"] = predictions(table["horizon"], table["horizon"] ** 2)["bound_v3"]
    table["saturated"], table["misfit"], table["limit_uncertain"] = False, False, False
    return pd.concat([table.assign(statistic=name) for name in ("mean", "cov")], ignore_index=True)


def of_horizon(h, s):
    return 0.5 - 0.1 * h + 0 * s


def of_tilt(h, s):
    return 0.5 - 0.1 * s + 0 * h


def of_neither(h, s):
    return 0.5 + 0 * h + 0 * s


@pytest.mark.parametrize(
    ("beta", "changes", "verdict"),
    [
        (of_horizon, {}, HOLDS),
        (of_neither, {}, FAILS),
        (lambda h, s: 0.3 + 0.1 * h, {}, FAILS),
        (of_horizon, {"layers": 4}, UNDECIDED),
        (lambda h, s: of_horizon(h, s) - 0.4, {"layers": 5, "mixed": True}, UNDECIDED),
        (of_horizon, {"half": 0.5}, UNDECIDED),
    ],
)
def test_does_the_horizon_order_the_heads(beta, changes, verdict):
    record = judged(heads_falls, STORE, heads=heads(beta, **changes))
    assert record.verdict == verdict, record.in_short


def test_the_claims_correlation_is_that_of_the_answer():
    table = heads(of_horizon)
    record = judged(heads_falls, STORE, heads=table)
    mean = ordered_heads(table[table["statistic"] == "mean"], THRESHOLDS["weakest_horizon"], Resampling(1000, 1))
    measured = record.measured["mean"]
    assert (measured["correlation"], measured["low"], measured["high"], measured["groups"]) == mean


def test_a_correlation_above_the_power_figure_fails():
    """Of many flat truths, those whose correlation lies above the figure fail, and they are the most."""
    records = [judged(heads_falls, STORE, heads=heads(of_neither, seed=seed)) for seed in range(5)]
    for record in records:
        for part in record.measured.values():
            assert part["fails_above"] < 0
            assert (part["low"] > -THRESHOLDS["weakest_correlation"]) == (part["correlation"] > part["fails_above"])
    assert sum(record.verdict == FAILS for record in records) >= 3


@pytest.mark.parametrize(
    ("beta", "changes", "verdict", "seen"),
    [
        (of_horizon, {}, HOLDS, {"H"}),
        (of_tilt, {}, HOLDS, {"s₀"}),
        (lambda h, s: of_horizon(h, s) + of_tilt(h, s), {}, HOLDS, {"H", "s₀"}),
        (of_neither, {}, FAILS, set()),
        (lambda h, s: of_horizon(h, s) - 0.4, {"layers": 5, "mixed": True}, UNDECIDED, set()),
        (of_horizon, {"layers": 2}, UNDECIDED, set()),
    ],
)
def test_which_coupling_orders_the_heads(beta, changes, verdict, seen):
    record = judged(tilt_order, STORE, heads=heads(beta, **changes))
    assert record.verdict == verdict, record.in_short
    mean = record.measured["mean"]
    assert {name for name in ("H", "s₀") if mean.get(name, {"high": 1})["high"] < 0} == seen


def test_a_tilt_that_goes_with_the_horizon_is_told_from_it():
    """beta depends on H alone, and s0 goes with H: plain ranks blame both, partial ones H."""
    table = heads(of_horizon)
    table["constant_tilt"] = table["horizon"] + 0.3 * np.random.default_rng(5).normal(size=len(table))
    measured = judged(tilt_order, STORE, heads=table).measured["mean"]
    assert measured["H"]["high"] < 0 < measured["s₀"]["high"]
    assert np.corrcoef(table["beta"], table["constant_tilt"])[0, 1] < -0.7


@pytest.mark.parametrize(("beta", "verdict"), [(heuristic, HOLDS), (lambda h: 0.8 * curve(h) - 0.03, FAILS)])
def test_heads_above_the_curve(beta, verdict):
    assert judged(heads_above, model_rates(beta, **FACTS)).verdict == verdict


def test_a_model_that_is_not_the_papers_is_named():
    data = rates(heuristic, **FACTS)
    assert "owner/small, which is not the paper's" in model_remark(data)
    data.attrs["model"] = {"name": "google-bert/bert-base-uncased"}
    assert "not the paper's" not in model_remark(data)
