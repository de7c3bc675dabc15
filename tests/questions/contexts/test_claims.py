"""The claim on neighbouring tokens: shares made to be below 1, to be 1, and to decide nothing."""

import numpy as np
import pytest

from attnlimit.questions.contexts.claims import contexts_share
from attnlimit.questions.contexts.power import POWER
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import contexts_fit, judged


@pytest.mark.parametrize(
    ("share", "relative", "verdict"),
    [
        (0.2, 0.1, HOLDS),
        (0.9, 0.1, HOLDS),  # seen below 1, just so
        (0.8, 0.3, UNDECIDED),
        (0.92, 0.1, FAILS),  # perhaps below 1, surely above what would count as a loss
        (1.0, 0.2, FAILS),  # surely more than what would count as a loss
        (1.0, 0.4, UNDECIDED),
        (1.5, 0.1, FAILS),
        (np.nan, 0.1, UNDECIDED),
    ],
)
def test_contexts_share(share, relative, verdict):
    record = judged(contexts_share, contexts_fit(share, relative))
    assert record.verdict == verdict
    assert (
        record.could_fail.startswith("yes" if np.isfinite(share) else "not here") and "no share of" not in record.number
    )


def test_both_statistics_must_hold_and_the_longest_run_is_judged():
    data = contexts_fit(0.2, 0.05)
    data["overall_share_high"].loc[{"run": "256", "statistic": "cov"}] = 1.02
    record = judged(contexts_share, data)
    assert record.verdict == UNDECIDED and record.measured["run"] == 256
    assert record.measured["mean"]["heads_below_1"] == record.measured["mean"]["heads"] == 8


def test_planted_truths_are_told_apart():
    """One draw of each, as `make power` makes them."""
    make = POWER["contexts_share"][1]
    found = [judged(contexts_share, *make(truth, np.random.default_rng(1)).values()).verdict for truth in (True, False)]
    assert found == [HOLDS, FAILS]


def test_what_the_power_figure_says_is_seen():
    record = judged(contexts_share, contexts_fit(0.3, 0.1))
    seen = record.measured["mean"]["seen_up_to"]
    assert f"a share of up to {seen:.2f} would have been seen" in record.could_fail
    assert judged(contexts_share, contexts_fit(0.99 * seen, 0.1)).verdict == HOLDS
    assert judged(contexts_share, contexts_fit(1.01 * seen, 0.1)).verdict != HOLDS
