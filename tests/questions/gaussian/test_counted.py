"""Counts in bins against tokens drawn one by one, and what bins lose."""

from zlib import crc32

import numpy as np
import pytest
from scipy.special import ndtr

from attnlimit.questions.gaussian.counted import (
    Bins,
    Setting,
    binned_moments,
    draw_counts,
    errors_of,
    join_pairs,
    make_bins,
)
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol
from attnlimit.theory.moments import Moments, moments


def direct_moments(tokens: np.ndarray, horizon: float) -> Moments:
    """Self-attention over every pair of tokens, tilt H x and V = 1."""
    scores = horizon * np.outer(tokens, tokens)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return moments((weights @ tokens / weights.sum(1))[:, None])


def edges_of(bins: Bins) -> np.ndarray:
    centres = bins.nodes.mean(1)
    width = centres[1] - centres[0]
    return np.append(centres - width / 2, centres[-1] + width / 2)


@pytest.mark.parametrize("size", [100, 10**6, 10**10])
def test_bins_hold_the_gaussian(size):
    for bins in make_bins(size, 0.05):
        edges = edges_of(bins)
        assert bins.probability.sum() == pytest.approx(1, abs=1e-14)
        inner = slice(1, -1)
        np.testing.assert_allclose(bins.probability[inner], np.diff(ndtr(edges))[inner], atol=1e-15)
        np.testing.assert_allclose(bins.probability, bins.probability[::-1], rtol=1e-12)
        assert size * 2 * ndtr(edges[0]) == pytest.approx(1e-6, rel=1e-6)
        assert np.diff(edges).max() <= 0.05 + 1e-12
        np.testing.assert_allclose(bins.shares.sum(1), 1)


@pytest.mark.parametrize("tilt", [0.5, 4, 15])
def test_mean_of_the_weights_over_a_bin_is_exact(tilt):
    """E[exp(t X); bin] = exp(t^2 / 2) P(bin shifted by t), by completing the square."""
    _, bins = make_bins(10**10, 0.04)
    edges = edges_of(bins)
    found = bins.probability * (bins.shares * np.exp(tilt * bins.nodes - tilt**2 / 2)).sum(1)
    seen = (np.abs(edges[:-1] - tilt) < 3) & (np.abs(edges[:-1]) < 8)
    np.testing.assert_allclose(found[seen], np.diff(ndtr(edges - tilt))[seen], rtol=1e-5)


@pytest.mark.parametrize("horizon", [0.3, 1, 3])
def test_expected_counts_give_the_limit(horizon):
    """As many tokens in each bin as expected, and bins far enough out: no noise is left, mean 0 and covariance H^2."""
    for bins in make_bins(10**120, 0.08):
        counts = 1e120 * bins.probability[None]
        (found,) = binned_moments(counts, bins, horizon)
        assert found.mean[0] == pytest.approx(0, abs=1e-12)
        assert found.covariance[0, 0] == pytest.approx(horizon**2, rel=1e-5)


@pytest.mark.parametrize("horizon", [0.3, 1, 2, 3])
def test_binned_tokens_have_the_errors_of_the_tokens(horizon):
    """The same tokens, one by one and as counts: their errors differ by little of the error itself."""
    n, replicates = 1500, 12
    wide, narrow = make_bins(n, 0.04)
    tokens = np.random.default_rng(0).normal(size=(replicates, n))
    counts = np.stack([np.histogram(sample, edges_of(narrow))[0] for sample in tokens])
    direct = [direct_moments(sample, horizon) for sample in tokens]
    for grid, held, part in ((narrow, counts, 0.05), (wide, join_pairs(counts), 0.1)):
        binned = binned_moments(held, grid, horizon)
        for limit, values in (
            (0, [(one.mean[0], two.mean[0]) for one, two in zip(direct, binned, strict=True)]),
            (
                horizon**2,
                [(one.covariance[0, 0], two.covariance[0, 0]) for one, two in zip(direct, binned, strict=True)],
            ),
        ):
            exact, found = np.array(values).T - limit
            assert np.sqrt(np.mean((found - exact) ** 2)) < part * np.sqrt(np.mean(exact**2))


@pytest.mark.parametrize("horizon", [0.5, 1.5])
def test_drawn_counts_have_the_expected_error_of_drawn_tokens(horizon):
    n, replicates = 400, 400
    _, bins = make_bins(n, 0.04)
    binned = binned_moments(draw_counts(n, bins, replicates, 1, 0), bins, horizon)
    rng = np.random.default_rng(2)
    direct = [direct_moments(rng.normal(size=n), horizon) for _ in range(replicates)]
    for error in (lambda found: abs(found.mean[0]), lambda found: abs(found.covariance[0, 0] - horizon**2)):
        one, two = np.array([error(found) for found in binned]), np.array([error(found) for found in direct])
        se = np.sqrt((one.var() + two.var()) / replicates)
        assert abs(one.mean() - two.mean()) < 4 * se


def test_noise_of_the_mean_at_a_huge_size():
    """At small H every output is H x + noise: the mean error is that of n^-1 sum x_i times 1 + H, to first order."""
    n, horizon, replicates = 10**10, 1e-3, 400
    _, bins = make_bins(n, 0.1)
    counts = draw_counts(n, bins, replicates, 3, 0)
    assert (counts.sum(1) == n).all()
    errors = np.array([found.mean[0] for found in binned_moments(counts, bins, horizon)])
    assert n * errors.var() == pytest.approx((1 + horizon) ** 2, rel=4 * np.sqrt(2 / replicates))


def test_addresses():
    """Other replicates, sizes or settings change nothing, and pairs of bins keep their tokens."""
    wide, narrow = make_bins(10**6, 0.2)
    counts = draw_counts(10**6, narrow, 3, 4, 7)
    np.testing.assert_array_equal(draw_counts(10**6, narrow, 5, 4, 7)[:3], counts)
    assert (draw_counts(10**6, narrow, 3, 4, 8) != counts).any()
    assert join_pairs(counts).shape == (3, len(wide.nodes))
    assert (join_pairs(counts).sum(1) == 10**6).all()


def test_what_is_kept_of_a_setting():
    """Limit 0 and H^2, scale of the mean 1; the discretisation is the change of the mean error with the bins."""
    protocol = Protocol([10**4, 10**6], 6, 2, True, 3, "cpu", "float64")
    settings = [Setting(horizon, 0.05) for horizon in (0.5, 2.0)]
    assert [setting.name for setting in settings] == ["d=1 H=0.5", "d=1 H=2"]
    errors = measure_settings(settings, errors_of, protocol, "test")
    assert errors["cov_wide_bins"].dims == ("setting", "replicate", "n")
    np.testing.assert_allclose(errors["horizon"], [0.5, 2])
    assert errors["setting"].values.tolist() == ["d=1 H=0.5", "d=1 H=2"]
    np.testing.assert_allclose(errors["limit_scale"].sel(statistic="cov"), [0.25, 4])
    np.testing.assert_allclose(errors["limit_scale"].sel(statistic="mean"), 1)
    _, narrow = make_bins(10**6, 0.05)
    counts = draw_counts(10**6, narrow, 6, 3, crc32(b"d=1 H=2"))
    expected = [sample.covariance[0, 0] - 4 for sample in binned_moments(counts, narrow, 2.0)]
    found = errors["error"].sel(setting="d=1 H=2", statistic="cov", n=10**6)
    np.testing.assert_allclose(found, np.abs(expected))
    for name in ("mean", "cov"):
        moved = (
            errors[f"{name}_wide_bins"].mean("replicate") / errors["error"].sel(statistic=name).mean("replicate") - 1
        )
        np.testing.assert_allclose(errors[f"{name}_discretisation"], np.abs(moved))
        assert (errors[f"{name}_discretisation"] < 0.1).all()
