"""Attention at one query, against exact laws: two tokens by quadrature, many tokens by the delta method."""

import numpy as np
import pytest
from scipy.special import logsumexp, roots_hermitenorm

from attnlimit.questions.normality.measure import estimate, replicate, simulate

RNG = np.random.default_rng(0)
TOKENS, TILT = RNG.normal(size=(50, 3)) + 2, np.array([0.8, -0.5, 1.1])


FIELDS = ("output", "plug_in", "effective", "log_mean")


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


def test_another_tilt_or_size_changes_no_other_number():
    few, many = replicate(3, 100, 4, [0.5, 2]), replicate(3, 100, 4, [0, 0.5, 1, 2])
    for one, same in zip(few, [many[1], many[3]], strict=True):
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    addresses = [(3, 100, 4), (4, 100, 4), (3, 101, 4), (3, 100, 5)]
    assert len({float(replicate(*address, [1])[0].effective) for address in addresses}) == len(addresses)


def test_the_raw_store_holds_each_replicate_in_units_of_the_limit():
    """sqrt(n) (Gamma_n - t), and the mass e^{K_n(t) - t^2 / 2}."""
    sizes, tilts = [50, 100], [0, 0.7, 2]
    raw = simulate(sizes, tilts, 3, seed=3)
    assert raw["plug_in"].dims == ("setting", "n", "replicate", "coordinate", "coordinate_2")
    np.testing.assert_array_equal(raw["tilt"], tilts)
    for i, size in enumerate(sizes):
        for number in range(3):
            for setting, one in enumerate(replicate(3, size, number, tilts)):
                here = raw.isel(setting=setting, n=i, replicate=number)
                tilt = tilts[setting]
                np.testing.assert_allclose(here["deviation"], np.sqrt(size) * (one.output - [tilt, 0]), rtol=1e-12)
                np.testing.assert_array_equal(here["plug_in"], one.plug_in)
                assert here["effective"] == one.effective
                assert here["mass"] == pytest.approx(np.exp(one.log_mean - tilt**2 / 2), rel=1e-12)
