"""The hardmax in one dimension: exact expectation against direct integrals, draws and 30-digit arithmetic."""

from math import comb

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf, erfcinv, log_ndtr

from attnlimit.theory.hardmax import (
    HALVES_FROM,
    binomial_rule,
    hardmax_error,
    hardmax_error_of_halves,
    hardmax_expected_error,
    hardmax_proposition,
)


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
    ratio = np.array([hardmax_expected_error(size, 3.0) / hardmax_proposition(np.log(size), 3.0) for size in n])
    assert np.all(np.diff(ratio) < 0) and ratio[-1] > 1
    np.testing.assert_allclose(ratio[:4], [1.4421, 1.1449, 1.0552, 1.0348], atol=1e-4)
    assert hardmax_expected_error(14_000, 1.0) > 1.05 * hardmax_proposition(np.log(14_000), 1.0)
    assert hardmax_expected_error(14_100, 1.0) < 1.05 * hardmax_proposition(np.log(14_100), 1.0)


@pytest.mark.parametrize(("decades", "difference"), [(9, 1.1e-6), (12, 2e-9), (14, 3e-11), (15, 3e-12)])
def test_halves_are_the_binomial_up_to_its_spread(decades, difference):
    """The spread of the positive tokens adds a relative (ln n)^2 / n: nothing from the crossover on."""
    exact = hardmax_expected_error(10.0**decades, 1.0)
    halves = hardmax_error_of_halves(decades * np.log(10), 1.0)
    assert 1 - halves / exact == pytest.approx(difference, rel=0.1)
    assert pytest.approx(15 * np.log(10)) == HALVES_FROM


def test_one_function_serves_all_n():
    assert hardmax_error(np.log(2), 3.0) == hardmax_expected_error(2, 3.0)
    assert hardmax_error(np.log(100), 3.0) == hardmax_expected_error(100, 3.0)
    below, above = hardmax_error(HALVES_FROM - 1e-9, 1.0), hardmax_error(HALVES_FROM, 1.0)
    assert above == pytest.approx(below, rel=1e-10)


@pytest.mark.parametrize("log_n", [100.0, 2302.585, 23025.85])
def test_halves_by_adaptive_quadrature_over_x(log_n):
    """int F (1 - F) dx, F = exp(-k erfc(x / sqrt 2)): for so large k, (1 - q)^k is e^(-k q) to all digits."""
    log_k = log_n - np.log(2)

    def integrand(x):
        u = np.exp(np.minimum(log_k + np.log(2) + log_ndtr(-x), 10))
        return np.exp(-u) * -np.expm1(-u)

    centre = np.sqrt(2 * log_k)
    total, _ = quad(integrand, centre - 1, centre + 60 / centre, points=[centre], epsabs=0, epsrel=1e-10, limit=500)
    assert hardmax_error(log_n, 1.0) == pytest.approx(total, rel=1e-8)


def test_the_proposition_is_reached_in_the_end():
    """The ratio is 1 + O(ln ln n / ln n): at 10^100 still half a per cent, at 10^(10^6) a millionth."""
    ratio = [hardmax_error(d * np.log(10), 1.0) / hardmax_proposition(d * np.log(10), 1.0) for d in (1e2, 1e3, 1e6)]
    np.testing.assert_allclose(ratio, [1.0045157361, 1.0006983802, 1.0000014476], rtol=1e-10)
