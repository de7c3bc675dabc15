"""Claims on keys: simulated truths that hold, fail, and decide nothing."""

import numpy as np
import pytest

from attnlimit.questions.keys.claims import keys_first_order, keys_growth, keys_together
from attnlimit.questions.keys.power import POWER, fitted
from attnlimit.stats.claim import Fits
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED

CLAIMS = {each.id: each for each in (keys_first_order, keys_growth, keys_together)}
THRESHOLDS = {"keys_tolerance": 0.1, "growth_power": 0.5}


def found(claim, stores):
    return CLAIMS[claim](Fits(stores), THRESHOLDS)


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize(("truth", "verdict"), [(True, HOLDS), (False, FAILS)])
def test_a_truth_is_seen_for_what_it_is(claim, truth, verdict):
    _, stores = POWER[claim]
    finding = found(claim, stores(truth, np.random.default_rng(11)))
    assert finding.verdict == verdict and finding.p < 0.05


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("keys_first_order", {"first_order": 1.1}),
        ("keys_growth", {"growth": 0.5}),
        ("keys_together", {"together": 1.0}),
    ],
)
def test_the_edge_is_undecided(claim, change):
    finding = found(claim, fitted(np.random.default_rng(11), **change))
    assert finding.verdict == UNDECIDED and finding.p > 0.05


def test_without_a_head_that_theory_speaks_of_nothing_is_decided():
    stores = fitted(np.random.default_rng(1))
    for end in ("", "_low", "_high"):
        stores["keys"][f"median_first_order_ratio{end}"][:] = np.nan
    finding = found("keys_first_order", stores)
    assert finding.verdict == UNDECIDED and finding.p is None
