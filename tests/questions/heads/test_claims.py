"""Claims on the heads: planted rates against the curve, within layers that differ."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from attnlimit.questions.heads.claims import heads_above, heads_curve, model_remark
from attnlimit.questions.heads.power import POWER
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from attnlimit.theory.bounds import predictions
from support.claims import curve, heuristic, judged, model_rates, rates

LAYERS, HEADS = 6, 12
FACTS = {"population": 50000, "model": {"name": "owner/small"}}
STORE = xr.Dataset(coords={"n": [64]}, attrs=FACTS)


def heads(beta, layers=LAYERS, half=0.02, seed=0, by_layer=0.0) -> pd.DataFrame:
    """Fits of heads with rates beta(H) and noise, layers further apart by so much, the later the larger H."""
    stream = np.random.default_rng(seed)
    count = layers * HEADS
    table = pd.DataFrame(
        {"layer": np.repeat(np.arange(layers), HEADS), "n_min": 64, "constant_tilt": 0.0, "replicates": 100}
    )
    table["horizon"] = stream.uniform(0.2, 1.5, count) + 0.1 * table["layer"]
    table["beta"] = beta(table["horizon"]) + by_layer * table["layer"] + half / 1.96 * stream.normal(size=count)
    table["beta_low"], table["beta_high"] = table["beta"] - half, table["beta"] + half
    table["bound_v3"] = predictions(table["horizon"], table["horizon"] ** 2)["bound_v3"]
    table["saturated"], table["misfit"], table["limit_uncertain"] = False, False, False
    return pd.concat([table.assign(statistic=name) for name in ("mean", "cov")], ignore_index=True)


@pytest.mark.parametrize(
    ("beta", "changes", "verdict"),
    [
        (curve, {}, HOLDS),
        (lambda h: 0.5 + 0 * h, {}, FAILS),
        (lambda h: 0.5 + 0 * h, {"by_layer": -0.05}, FAILS),  # layers with larger H are slower, heads in them are not
        (curve, {"by_layer": 0.2}, HOLDS),
        (lambda h: 0.3 + 0.1 * h, {}, FAILS),
        (curve, {"half": 3.0}, UNDECIDED),
        (lambda h: curve(h)[:3].reindex(h.index), {"layers": 1}, UNDECIDED),
    ],
)
def test_rates_fall_with_the_horizon_within_layers(beta, changes, verdict):
    table = heads(beta, **changes).dropna(subset="beta")
    record = judged(heads_curve, STORE, heads=table)
    assert record.verdict == verdict, record.in_short


@pytest.mark.parametrize(
    ("beta", "verdict"), [(heuristic, HOLDS), (lambda h: 0.8 * curve(h) - 0.03, FAILS), (curve, HOLDS)]
)
def test_heads_above_the_curve(beta, verdict):
    """Also those that lie on it: noise puts some below, and that is chance."""
    record = judged(heads_above, STORE, heads=heads(beta))
    assert record.verdict == verdict, record.in_short


def test_whole_layers_do_not_count():
    """Their rate is far below every bound."""
    assert judged(heads_above, model_rates(heuristic, **FACTS)).verdict == HOLDS


@pytest.mark.parametrize("claim", [heads_above, heads_curve])
def test_planted_truths_are_told_apart(claim):
    """One draw of each, as `make power` makes them."""
    found = [judged(claim, *POWER[claim.id][1](truth, np.random.default_rng(2)).values()) for truth in (True, False)]
    assert [record.verdict for record in found] == [HOLDS, FAILS]


def test_a_model_that_is_not_the_papers_is_named():
    data = rates(heuristic, **FACTS)
    assert "owner/small, which is not the paper's" in model_remark(data)
    data.attrs["model"] = {"name": "google-bert/bert-base-uncased"}
    assert "not the paper's" not in model_remark(data)
