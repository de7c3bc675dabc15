"""Attention at one query, against exact laws: two tokens by quadrature, many tokens by the delta method."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp, ndtr, ndtri, roots_hermitenorm

from attnlimit.experiments.normality import PROBABILITIES, estimate, replicate
from attnlimit.rates.summaries import summary
from attnlimit.theory.gaussian import gaussian_clt

RNG = np.random.default_rng(0)
TOKENS, TILT = RNG.normal(size=(50, 3)) + 2, np.array([0.8, -0.5, 1.1])


def dataset(tilts, size, output, plug_in, mass):
    """The raw store of one size, from arrays (setting, replicate, …)."""
    tilts, place = np.array(tilts, dtype=float), ("setting", "n", "replicate")
    deviation = np.sqrt(size) * (output - np.stack([tilts, 0 * tilts], -1)[:, None])
    return xr.Dataset(
        {
            "deviation": ((*place, "coordinate"), deviation[:, None]),
            "plug_in": ((*place, "coordinate", "coordinate_2"), plug_in[:, None]),
            "effective": (place, np.ones_like(mass)[:, None]),
            "mass": (place, mass[:, None]),
            "tilt": ("setting", tilts),
        },
        coords={"n": [size]},
    )


FIELDS = ("output", "plug_in", "effective", "log_mean")


def simulated(tilts, size, replicates):
    found = [replicate(3, size, number, tilts) for number in range(replicates)]
    output, plug_in, _, log_mean = (
        np.stack([[getattr(one, name) for one in row] for row in found], 1) for name in FIELDS
    )
    return dataset(tilts, size, output, plug_in, np.exp(log_mean - np.array(tilts)[:, None] ** 2 / 2))


def test_estimate_by_its_definition():
    found, scores = estimate(TOKENS, TILT), TOKENS @ TILT
    weights = np.exp(scores) / np.exp(scores).sum()
    output = sum(w * x for w, x in zip(weights, TOKENS, strict=True))
    plug_in = 50 * sum(w**2 * np.outer(x - output, x - output) for w, x in zip(weights, TOKENS, strict=True))
    np.testing.assert_allclose(found.output, output, rtol=1e-12)
    np.testing.assert_allclose(found.plug_in, plug_in, rtol=1e-10)
    assert found.effective == pytest.approx(1 / sum(weights**2), rel=1e-12)
    assert found.log_mean == pytest.approx(logsumexp(scores) - np.log(50), rel=1e-12)


def test_without_tilt_it_is_the_mean_and_its_covariance():
    found = estimate(TOKENS, np.zeros(3))
    np.testing.assert_allclose(found.output, TOKENS.mean(0))
    np.testing.assert_allclose(found.plug_in, np.cov(TOKENS.T, bias=True))
    assert found.effective == pytest.approx(50)


def test_other_coordinates_give_the_same_estimate():
    """X = m + S Z has the weights of Z at tilt S't: so a plane and one axis serve for every Gaussian."""
    shift, root = np.array([3.0, -1.0, 0.5]), RNG.normal(size=(3, 3))
    moved, plain = estimate(shift + TOKENS @ root.T, TILT), estimate(TOKENS, root.T @ TILT)
    np.testing.assert_allclose(moved.output, shift + root @ plain.output, rtol=1e-10)
    np.testing.assert_allclose(moved.plug_in, root @ plain.plug_in @ root.T, rtol=1e-8, atol=1e-10)
    assert moved.effective == pytest.approx(plain.effective, rel=1e-10)


def test_large_scores_do_not_overflow():
    found = estimate(TOKENS, 1e4 * TILT)
    np.testing.assert_allclose(found.output, TOKENS[np.argmax(TOKENS @ TILT)])
    assert found.effective == pytest.approx(1)


def test_mass_times_error_is_the_mean_influence():
    tokens, tilt = TOKENS[:, :2], np.array([0.9, 0])
    found = estimate(tokens, tilt)
    influence = np.exp(tokens @ tilt - tilt @ tilt / 2)[:, None] * (tokens - tilt)
    mass = np.exp(found.log_mean - tilt @ tilt / 2)
    np.testing.assert_allclose(mass * (found.output - tilt), influence.mean(0), rtol=1e-12)


@pytest.mark.parametrize("tilt", [0.7, 2.5])
def test_two_tokens_exactly(tilt):
    """Gamma_2 = M + (D/2) tanh(t D_1 / 2), with the mean M ~ N(0, I/2) and the difference D ~ N(0, 2 I) independent."""
    nodes, weights = roots_hermitenorm(100)
    pull = np.tanh(tilt * np.sqrt(2) * nodes / 2)
    along = np.sqrt(2) * nodes / 2 * pull
    bias = weights @ along / weights.sum()
    variance = [0.5 + weights @ along**2 / weights.sum() - bias**2, 0.5 + 0.5 * weights @ pull**2 / weights.sum()]
    output = np.array([replicate(1, 2, number, [tilt])[0].output for number in range(4000)])
    centred = output - [bias, 0]
    assert (np.abs(centred.mean(0)) < 4 * np.sqrt(variance) / 4000**0.5).all()
    squares = centred**2
    assert (np.abs(squares.mean(0) - variance) < 4 * squares.std(0) / 4000**0.5).all()


def test_many_tokens_follow_the_delta_method():
    """n = 3000, |t| = 0 to 1: variance, plug-in, bias and coverage within four standard errors of their limits."""
    tilts = [0, 0.5, 1]
    found = summary(simulated(tilts, 3000, 500)).isel(n=0)
    for number, tilt in enumerate(tilts):
        variance, bias = gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2))
        here = found.isel(setting=number)
        np.testing.assert_array_equal(here["clt_covariance"], variance)
        np.testing.assert_allclose(np.diag(here["covariance"]) / np.diag(variance), here["variance_ratio"])
        assert (np.abs(here["variance_ratio"] - 1) < 4 * here["variance_ratio_se"]).all()
        assert (here["variance_ratio_se"] < 0.15).all()
        np.testing.assert_allclose(here["plug_in_ratio"], 1, atol=0.1)
        assert (np.abs(here["n_bias"] - bias) <= 4 * here["n_bias_se"]).all()
        assert (here["n_bias_se"] < 0.4).all()
        assert (np.abs(here["coverage"] - 0.95) < 4 * here["coverage_se"]).all()


def test_the_bias_has_no_trend_but_a_far_smaller_error():
    """Without the influence function the same mean comes with an error some twenty times as large."""
    raw = simulated([1], 3000, 200)
    found, plain = summary(raw), np.sqrt(3000) * raw["deviation"].values[0, 0, :, 0]
    error = plain.std() / 200**0.5
    assert abs(plain.mean() - float(found["n_bias"][0, 0, 0])) < 4 * error
    assert float(found["n_bias_se"][0, 0, 0]) < error / 10


@pytest.mark.parametrize(("share", "expected"), [(1, 0.95), (0.25, 2 * ndtr(ndtri(0.975) / 2) - 1)])
def test_coverage_and_quantiles_of_exactly_normal_errors(share, expected):
    """Errors drawn from the limit itself, with a plug-in that is right or a quarter of it."""
    tilt, size, count = 0.8, 100, 20_000
    variance = np.diag(gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2))[0])
    output = [tilt, 0] + np.sqrt(variance / size) * np.random.default_rng(2).normal(size=(1, count, 2))
    plug_in = np.broadcast_to(share * np.diag(variance), (1, count, 2, 2))
    found = summary(dataset([tilt], size, output, plug_in, np.ones((1, count)))).isel(setting=0, n=0)
    assert (np.abs(found["coverage"] - expected) < 4 * found["coverage_se"]).all()
    np.testing.assert_allclose(found["plug_in_ratio"], share)
    density = np.exp(-(ndtri(PROBABILITIES) ** 2) / 2) / np.sqrt(2 * np.pi)
    error = np.sqrt(PROBABILITIES * (1 - PROBABILITIES) / count) / density
    assert (np.abs(found["quantile"] - found["normal_quantile"]) < 5 * error[:, None]).all()


def test_another_tilt_or_size_changes_no_other_number():
    few, many = replicate(3, 100, 4, [0.5, 2]), replicate(3, 100, 4, [0, 0.5, 1, 2])
    for one, same in zip(few, [many[1], many[3]], strict=True):
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    addresses = [(3, 100, 4), (4, 100, 4), (3, 101, 4), (3, 100, 5)]
    assert len({float(replicate(*address, [1])[0].effective) for address in addresses}) == len(addresses)
