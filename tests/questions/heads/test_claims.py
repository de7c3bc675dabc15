"""Claims on what orders the heads: planted orders over layers that share their noise, to the verdict."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from attnlimit.questions.heads.claims import ablation_falls, heads_falls, tilt_order
from attnlimit.stats.order import Resampling, ordered_heads
from attnlimit.stats.verdicts import FAILS, HOLDS, UNTESTED
from attnlimit.theory.bounds import predictions
from support.claims import THRESHOLDS

RESAMPLING = Resampling(1000, 1)
LAYERS, HEADS = 8, 12
MODEL = xr.Dataset(attrs={"model": {"name": "owner/small"}})


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
        (of_horizon, {"layers": 4}, UNTESTED),
        (lambda h, s: of_horizon(h, s) - 0.4, {"layers": 5, "mixed": True}, UNTESTED),
        (of_horizon, {"half": 0.5}, UNTESTED),
    ],
)
def test_does_the_horizon_order_the_heads(beta, changes, verdict):
    record = heads_falls("small", heads(beta, **changes), "Remark.", THRESHOLDS, RESAMPLING)
    assert record.verdict == verdict, record.in_short
    assert "small" in record.claim and "resamples" in record.why


def test_the_claims_correlation_is_that_of_the_answer():
    table = heads(of_horizon)
    record = heads_falls("small", table, "", THRESHOLDS, RESAMPLING)
    mean = ordered_heads(table[table["statistic"] == "mean"], THRESHOLDS["weakest_horizon"], RESAMPLING)
    measured = record.measured["mean"]
    assert (measured["correlation"], measured["low"], measured["high"], measured["groups"]) == mean


def test_a_correlation_above_the_power_figure_fails():
    """Of many flat truths, those whose correlation lies above the figure fail, and they are the most."""
    records = [heads_falls("m", heads(of_neither, seed=seed), "", THRESHOLDS, RESAMPLING) for seed in range(5)]
    for record in records:
        for part in record.measured.values():
            assert part["fails_above"] < 0
            assert (part["low"] > -THRESHOLDS["weakest_correlation"]) == (part["correlation"] > part["fails_above"])
    assert sum(record.verdict == FAILS for record in records) >= 3


@pytest.mark.parametrize(
    ("beta", "changes", "verdict", "words"),
    [
        (of_horizon, {}, HOLDS, "(H orders)"),
        (of_tilt, {}, HOLDS, "(s₀ orders)"),
        (lambda h, s: of_horizon(h, s) + of_tilt(h, s), {}, HOLDS, "(H and s₀ order)"),
        (of_neither, {}, FAILS, "(neither is seen to)"),
        (lambda h, s: of_horizon(h, s) - 0.4, {"layers": 5, "mixed": True}, UNTESTED, "(neither is seen to)"),
        (of_horizon, {"layers": 2}, UNTESTED, "only 24 fits of 2 layers"),
    ],
)
def test_which_coupling_orders_the_heads(beta, changes, verdict, words):
    record = tilt_order("small", heads(beta, **changes), THRESHOLDS, RESAMPLING)
    assert record.verdict == verdict, record.in_short
    assert words in record.in_short


def test_a_tilt_that_goes_with_the_horizon_is_told_from_it():
    """beta depends on H alone, and s0 goes with H: plain ranks blame both, partial ones H."""
    table = heads(of_horizon)
    table["constant_tilt"] = table["horizon"] + 0.3 * np.random.default_rng(5).normal(size=len(table))
    measured = tilt_order("small", table, THRESHOLDS, RESAMPLING).measured["mean"]
    assert measured["H"]["high"] < 0 < measured["s₀"]["high"]
    assert np.corrcoef(table["beta"], table["constant_tilt"])[0, 1] < -0.7


def ablated(beta, count=5, alphas=(0.1, 0.3, 0.6, 1, 2, 5), noise=0.01, mixed=False) -> pd.DataFrame:
    """Heads of rates so different that only the order within each tells; with the tilt scaled, the other way round."""
    stream, rows = np.random.default_rng(0), []
    for head in range(count):
        for alpha in alphas:
            horizon = alpha * (0.5 + 0.2 * head)
            rows.append({"of_layer": head // 2, "of_head": head, "tilt_factor": 1.0, "horizon": horizon})
            sign = -1 if mixed and head % 2 else 1
            rows[-1]["beta"] = sign * beta(horizon) + 0.3 * (count - head) ** 2 + noise * stream.normal()
        rows += [row | {"tilt_factor": 2.0, "beta": 9 + row["horizon"]} for row in rows[-2:]]
    table = pd.DataFrame(rows).assign(n_min=64, saturated=False, misfit=False, limit_uncertain=False)
    table["bound_v3"] = predictions(table["horizon"], table["horizon"] ** 2)["bound_v3"]
    table["beta_low"], table["beta_high"] = table["beta"] - 0.01, table["beta"] + 0.01
    return pd.concat([table.assign(statistic=name) for name in ("mean", "cov")], ignore_index=True)


@pytest.mark.parametrize(
    ("beta", "changes", "verdict"),
    [
        (lambda h: 1 / (1 + h**2), {}, HOLDS),
        (lambda h: h / 9, {}, FAILS),
        (lambda h: 0.5, {"count": 12, "noise": 0.1}, FAILS),
        (lambda h: 1 / (1 + h**2), {"mixed": True}, UNTESTED),  # falls in three heads of five
        (lambda h: 1 / (1 + h**2), {"count": 4}, UNTESTED),
    ],
)
def test_heads_with_only_a_scaled(beta, changes, verdict):
    record = ablation_falls(MODEL, ablated(beta, **changes), THRESHOLDS, RESAMPLING)
    assert record.verdict == verdict, record.in_short
    scaled = ablated(beta, **changes).query("statistic == 'mean' and tilt_factor == 1")
    assert record.measured["mean"]["fits"] == (scaled["horizon"] >= THRESHOLDS["weakest_horizon"]).sum()
