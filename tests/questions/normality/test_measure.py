"""Attention at one query from counts in bins, against tokens one by one and exact laws."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from attnlimit.base.seeds import generator
from attnlimit.questions.normality.measure import Samples, draw, estimates, simulate
from attnlimit.theory.bins import Bins, make_bins

TILTS = np.array([0, 0.8, 2])


def plain(tokens: np.ndarray, tilt: float):
    """Attention at tilt (t, 0) on tokens (n, 2) by its definition: output, plug-in, effective, mean weight."""
    weights = np.exp(tilt * tokens[:, 0])
    shares = weights / weights.sum()
    output = shares @ tokens
    plug_in = len(tokens) * (shares**2 @ (tokens - output) ** 2)
    return output, plug_in, 1 / (shares @ shares), weights.mean()


def test_estimates_by_their_definition():
    """Bins of one node: the tokens of a bin stand at one place, and the sums are those over all tokens."""
    rng = np.random.default_rng(1)
    places = np.array([-1.5, -0.2, 0.4, 2.0])
    bins = Bins(np.full(4, 0.25), places[:, None], np.ones((4, 1)))
    which, across = rng.integers(4, size=30), rng.normal(size=30)
    counts, sums, squares = (np.bincount(which, w, 4)[None] for w in (np.ones(30), across, across**2))
    found = estimates(Samples(counts, sums, squares), bins, TILTS)
    for number, tilt in enumerate(TILTS):
        output, plug_in, effective, mean_weight = plain(np.column_stack([places[which], across]), tilt)
        np.testing.assert_allclose(found["output"][number, 0], output, rtol=1e-12)
        np.testing.assert_allclose(found["plug_in"][number, 0], plug_in, rtol=1e-12)
        assert found["effective"][number, 0] == pytest.approx(effective, rel=1e-12)
        assert found["mean_weight"][number, 0] == pytest.approx(mean_weight, rel=1e-12)


def test_sums_of_a_bin_are_those_of_its_tokens():
    """Mean 0 and variance c of the sum, mean c of the squares, and nothing of an empty bin."""
    bins, _ = make_bins(40, 0.5)
    samples = draw(40, bins, 20_000, np.random.default_rng(2).spawn(3))
    assert (samples.counts.sum(1) == 40).all()
    assert (samples.sums[samples.counts == 0] == 0).all() and (samples.squares[samples.counts == 0] == 0).all()
    centre = bins.probability.argmax()
    counts, sums, squares = (part[:, centre] for part in samples)
    for values, expected in ((sums, 0), (sums**2 - counts, 0), (squares - counts, 0)):
        assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(len(values))
    assert (squares * counts >= sums**2 * (1 - 1e-12)).all()


@pytest.mark.parametrize("tilt", [0.7, 2.0])
def test_counts_have_the_law_of_tokens_drawn_one_by_one(tilt):
    """Errors over their own plug-in deviation, along the tilt and across it."""
    n, replicates = 200, 3000
    raw = simulate([n], [tilt], replicates, 0.05, seed=3).isel(setting=0, n=0)
    rng = np.random.default_rng(4)
    direct = [plain(rng.normal(size=(n, 2)), tilt) for _ in range(replicates)]
    limit = np.array([tilt, 0])
    studentised = np.array([np.sqrt(n) * (output - limit) / np.sqrt(plug_in) for output, plug_in, *_ in direct])
    found = raw["deviation"].values / np.sqrt(raw["plug_in"].values)
    for coordinate in range(2):
        assert ks_2samp(found[:, coordinate], studentised[:, coordinate]).pvalue > 1e-3
    assert ks_2samp(raw["effective"], [effective for *_, effective, _ in direct]).pvalue > 1e-3
    shifted = simulate([n], [1.2 * tilt], replicates, 0.05, seed=3).isel(setting=0, n=0)
    assert ks_2samp(shifted["effective"], raw["effective"]).pvalue < 1e-6  # the check tells another tilt apart


def test_mass_times_error_is_the_mean_influence():
    """1/n sum_i e^(t x_i - t^2 / 2) (x_i - t), summed over bins."""
    n, tilt = 1000, 1.1
    raw = simulate([n], [tilt], 3, 0.05, seed=5).isel(setting=0, n=0)
    bins, _ = make_bins(n, 0.05)
    samples = draw(n, bins, 3, generator(5, "simulate_normality", n).spawn(3))
    influence = (bins.shares * np.exp(tilt * bins.nodes - tilt**2 / 2) * (bins.nodes - tilt)).sum(1)
    expected = samples.counts @ influence / n
    np.testing.assert_allclose(raw["mass"] * raw["deviation"][:, 0] / np.sqrt(n), expected, rtol=1e-4, atol=1e-6)


def test_more_tilts_sizes_or_replicates_change_no_other_number():
    few = simulate([100, 10**8], [0.5, 2], 4, 0.1, seed=6)
    many = simulate([100, 1000, 10**8], [0, 0.5, 2], 7, 0.1, seed=6)
    same = many.sel(n=[100, 10**8], replicate=range(4)).isel(setting=[1, 2])
    for name in ("deviation", "plug_in", "effective", "mass"):
        np.testing.assert_allclose(few[name], same[name], rtol=1e-5)
    assert (simulate([100], [0.5], 4, 0.1, seed=7)["effective"] != few["effective"][0, 0]).all()


def test_parts_of_the_replicates_are_joined_in_order(monkeypatch):
    whole = simulate([1000], [1], 10, 0.1, seed=8)
    monkeypatch.setattr("attnlimit.questions.normality.measure.AT_ONCE", 4)
    parts = simulate([1000], [1], 10, 0.1, seed=8)
    np.testing.assert_allclose(parts["deviation"], whole["deviation"], rtol=1e-4, atol=1e-5)
