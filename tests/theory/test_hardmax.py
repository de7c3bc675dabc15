"""The hardmax in one dimension: exact expectation against direct integrals, draws and 30-digit arithmetic."""

from math import comb

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf, erfcinv

from attnlimit.theory.hardmax import binomial_rule, hardmax_expected_error, hardmax_proposition


@pytest.mark.parametrize("n", [7, 40, 500, 10**12])
def test_binomial_rule_has_the_moments_of_the_binomial(n):
    offsets, weights = binomial_rule(n, 20)
    z = offsets / (np.sqrt(n) / 2)
    assert weights @ np.ones_like(z) == pytest.approx(1, rel=1e-13)
    assert weights @ z**2 == pytest.approx(1, rel=1e-13)
    assert weights @ z**4 == pytest.approx(3 - 2 / n, rel=1e-13)
    assert weights @ z**6 == pytest.approx(15 - 30 / n + 16 / n**2, rel=1e-13)


def test_hardmax_with_two_tokens():
    """E max(|Z|, |Z'|) = 2 / sqrt(pi) and E min = 2 sqrt(2/pi) - 2 / sqrt(pi)."""
    expected = 2 / np.sqrt(np.pi) - np.sqrt(2 / np.pi) / 2
    assert hardmax_expected_error(2, 1.0) == pytest.approx(expected, rel=1e-12)


def test_hardmax_with_ten_tokens_count_by_count():
    """The plain sum over k, with E|U - W| from the densities instead of the distribution functions."""
    n, half_normal = 10, np.sqrt(2 / np.pi)

    def law(x, k):
        return erf(x * n / k / np.sqrt(2)) ** k

    def density(x, k):
        y = x * n / k
        return n * half_normal * np.exp(-(y**2) / 2) * erf(y / np.sqrt(2)) ** (k - 1)

    # E|U - W| = E[U (2 F_W(U) - 1)] + E[W (2 F_U(W) - 1)]; at k = 0 or n only one maximum is left.
    def part(own, other):
        return quad(lambda x: x * density(x, own) * (2 * law(x, other) - 1), 0, 10 * own / n, epsabs=1e-14)[0]

    total = 2 / 2**n * quad(lambda x: x * density(x, n), 0, 10, epsabs=1e-14)[0]
    for k in range(1, n):
        total += comb(n, k) / 2**n * (part(k, n - k) + part(n - k, k))
    assert hardmax_expected_error(n, 1.0) == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize(
    ("n", "expected"),
    [  # 30-digit arithmetic
        (10, 0.597138945458571865),
        (100, 0.329359299184506374),
        (10**9, 0.110161628173899157),
        (10**12, 0.0950709162465220161),
    ],
)
def test_hardmax_to_twelve_digits(n, expected):
    assert hardmax_expected_error(n, 1.0) == pytest.approx(expected, rel=1e-12)
    assert hardmax_expected_error(n, 2.5) == pytest.approx(2.5 * expected, rel=1e-12)


@pytest.mark.parametrize(("n", "replicates"), [(3, 200_000), (10, 200_000), (100, 30_000), (1000, 5_000)])
def test_hardmax_in_simulation(n, replicates):
    tokens = np.random.default_rng([5, n]).normal(size=(replicates, n))
    outputs = np.where(tokens > 0, tokens.max(axis=1, keepdims=True), tokens.min(axis=1, keepdims=True))
    errors = np.abs(outputs.mean(axis=1))
    assert abs(errors.mean() - hardmax_expected_error(n, 1.0)) < 4 * errors.std() / np.sqrt(replicates)


@pytest.mark.parametrize("n", [10**5, 10**8, 10**12])
def test_hardmax_in_simulation_of_the_maxima(n):
    """Too many tokens to draw: the maximum of k half-normals is drawn by inverting its law."""
    replicates = 400_000
    rng = np.random.default_rng([6, n])
    k = rng.binomial(n, 0.5, size=replicates)

    def maximum(count):
        return np.sqrt(2) * erfcinv(-np.expm1(np.log(rng.random(replicates)) / count))

    errors = np.abs(k * maximum(k) - (n - k) * maximum(n - k)) / n
    assert abs(errors.mean() - hardmax_expected_error(n, 1.0)) < 4 * errors.std() / np.sqrt(replicates)


def test_hardmax_proposition_is_approached_from_above_and_slowly():
    n = 10.0 ** np.arange(2, 13)
    ratio = np.array([hardmax_expected_error(size, 3.0) / hardmax_proposition(size, 3.0) for size in n])
    assert np.all(np.diff(ratio) < 0) and ratio[-1] > 1
    np.testing.assert_allclose(ratio[:4], [1.4421, 1.1449, 1.0552, 1.0348], atol=1e-4)
    assert hardmax_expected_error(14_000, 1.0) > 1.05 * hardmax_proposition(14_000, 1.0)
    assert hardmax_expected_error(14_100, 1.0) < 1.05 * hardmax_proposition(14_100, 1.0)
