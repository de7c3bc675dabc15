"""The claim on the next token: simulated truths that hold, fail, and decide nothing; fits with a known answer."""

import numpy as np
import pytest

from attnlimit.attention.keys import Kept
from attnlimit.questions.next_token.claims import next_token_sink_window, next_token_window
from attnlimit.questions.next_token.fit import fit_next_token
from attnlimit.questions.next_token.power import POWER, fitted, simulated_answers
from attnlimit.stats.claim import Fits
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED


@pytest.mark.parametrize("claim", [next_token_window, next_token_sink_window])
@pytest.mark.parametrize(("truth", "verdict"), [(True, HOLDS), (False, FAILS)])
def test_a_truth_is_seen_for_what_it_is(claim, truth, verdict):
    _, stores = POWER[claim.id]
    finding = claim(Fits(stores(truth, np.random.default_rng(4))), {})
    assert finding.verdict == verdict and finding.p < 0.05


def test_each_claim_looks_at_its_own_rival():
    answers = simulated_answers(np.random.default_rng(4))
    answers["divergence"].loc[{"protocol": "window"}] *= 10
    fits = Fits({"next_token": fit_next_token(answers, {}).assign_attrs(windows=6)})
    assert next_token_window(fits, {}).verdict == FAILS and next_token_sink_window(fits, {}).verdict == HOLDS


def test_equal_divergences_are_undecided():
    finding = next_token_window(Fits(fitted(np.random.default_rng(4), ratio=1.0)), {})
    assert finding.verdict == UNDECIDED and finding.p > 0.05


def test_a_window_that_forgets_nothing_decides_nothing():
    answers = simulated_answers(np.random.default_rng(4))
    for n, able in ([384], "yes"), ([32, 128, 384], "not here"):
        answers["divergence"].loc[{"protocol": "window", "n": n}] = 0.0
        fits = fit_next_token(answers, Kept(1, 64, 0).by_protocol()).assign_attrs(windows=6)
        finding = next_token_window(Fits({"next_token": fits}), {})
        assert finding.verdict == UNDECIDED and "no interval" in finding.in_short
        assert finding.could_fail.startswith(able)


def test_a_known_law_comes_back():
    fits = fitted(np.random.default_rng(4), noise=1e-9)["next_token"]
    np.testing.assert_allclose(fits["divergence_ratio"], 2, rtol=1e-6)
    assert fits["budget"].sel(protocol="window", n=128) == fits["budget"].sel(protocol="sink_recent", n=128) == 193
    with pytest.raises(ValueError, match="needs at least 2"):
        fit_next_token(simulated_answers(np.random.default_rng(4), windows=1), {})
