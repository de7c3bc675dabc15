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


def test_the_number_that_is_said_to_fail_would():
    """A ratio has its interval on the logarithm: moved to the number said, it lies just below the edge."""
    stores = fitted(np.random.default_rng(11), together=2.0, noise=0.6)
    ends = [f"joint_gain{end}" for end in ("", "_low", "_high")]
    value, _, high = (float(stores["keys"][name]) for name in ends)
    said = float(found("keys_together", stores).could_fail.split("below ")[1].split()[0])
    assert said == pytest.approx(value / high, abs=0.006) and said > 0
    for name in ends:
        stores["keys"][name] *= (said - 0.01) / value
    assert found("keys_together", stores).verdict == FAILS
