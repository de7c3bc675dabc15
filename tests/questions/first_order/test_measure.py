"""First and second order against derivatives of the limit, closed forms, a law by hand, and simulation."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import ive
from scipy.stats import binom

from attnlimit.attention.influence import entries, products, second_kernel, squares
from attnlimit.attention.kernel import Heads, project
from attnlimit.attention.streaming import Atoms, Pass, states_of
from attnlimit.base.parts import cuts
from attnlimit.questions.first_order.measure import Limit, constants, influence, scout, square, summed_up
from support import dense

OPTIONS = {"scouts": 200, "keys": 300, "covariance_keys": 300, "square": 100, "draws": 8}


class Each:
    """In place of a random stream: every place twice, one after the other, so that both halves have all."""

    def choice(self, places, count, **_):
        return np.repeat(np.arange(places), 2)

    def normal(self, size):
        return np.random.default_rng(0).normal(size=size)


def attended(tokens, counts, heads, how):
    """Outputs and log-sum-exp of tokens (token, feature) that stand for so many each."""
    atoms = Atoms(lambda places: tokens[places], counts)
    states = list(states_of(atoms, atoms, cuts(len(counts), how.block), how))
    outputs = torch.cat([state.output.transpose(0, 1).flatten(1) for state in states]).numpy()
    return atoms, outputs, torch.cat([state.total.T for state in states]).numpy()


def limit_of(tokens, counts=None, heads=None, block=16):
    """The limit over tokens, with one head A = V = 1 unless others are given."""
    counts = np.ones(len(tokens)) if counts is None else np.asarray(counts, float)
    heads = identity(tokens.shape[1]) if heads is None else heads
    how = Pass(heads, counts @ tokens / counts.sum(), block, "cpu", "float64")
    atoms, outputs, totals = attended(tokens, counts, heads, how)
    mean = counts @ outputs / counts.sum()
    covariance = (outputs - mean).T @ (counts[:, None] * (outputs - mean)) / counts.sum()
    return Limit(atoms, atoms, outputs, totals, mean, covariance, how)


def identity(width, strength=1.0):
    """A = strength times the identity, softmax scale included."""
    eye, zero = np.eye(width)[None], np.zeros((1, width))
    return Heads(strength * width**0.5 * eye, eye, eye, zero, zero)


def moments_at(weights, tokens, heads):
    """Mean and covariance of attention on a weighted population, the formula itself: weights may have any sign."""
    results = []
    for wq, wk, wv, bq, _ in zip(*heads, strict=True):
        scores = (tokens @ wq.T + bq) @ (tokens @ wk.T).T / len(wq) ** 0.5
        mass = np.exp(scores) * weights
        results.append(mass / mass.sum(1, keepdims=True) @ (tokens @ wv.T))
    outputs = np.concatenate(results, 1)
    mean = weights @ outputs
    return mean, (outputs - mean).T @ (weights[:, None] * (outputs - mean))


def derivatives(weights, tokens, heads, nu, step=1e-4):
    """Of mean and covariance along a signed measure, and the covariance's second order: C + e psiC + e^2 k."""
    plus, zero, minus = (moments_at(weights + sign * step * nu, tokens, heads) for sign in (1, 0, -1))
    second = (plus[1] + minus[1] - 2 * zero[1]) / (2 * step**2)
    return (plus[0] - minus[0]) / (2 * step), (plus[1] - minus[1]) / (2 * step), second


def exact_constants(limit, draws=8):
    """From every key and every query, each twice, nothing drawn."""
    count = len(limit.keys.counts)
    found = influence(limit, np.full(count, 1 / count), 2 * count, 2 * count, Each())
    return summed_up(scout(limit, 2 * count, Each()), found, square(limit, 2 * count, draws, Each()))


RNG = np.random.default_rng(4)
HEADS = dense.random_heads(RNG, heads=2, width=3, feature=6, scale=0.35)
TOKENS = RNG.normal(size=(40, 6)) + 1
UNIFORM = np.full(40, 1 / 40)


@pytest.mark.parametrize("counts", [np.ones(40), RNG.integers(1, 5, 40)], ids=["tokens", "atoms"])
def test_influence_is_the_derivative_of_the_limit(counts):
    limit, weights = limit_of(TOKENS, counts, HEADS), counts / counts.sum()
    found = influence(limit, UNIFORM, 80, 50, Each())
    for place in (0, 7, 20):
        mean, cov, _ = derivatives(weights, TOKENS, HEADS, np.eye(40)[place] - weights)
        psi = found.psi[0, :, 2 * place].flatten().numpy()
        np.testing.assert_allclose(psi, mean, rtol=1e-5, atol=1e-7)
        blocks = torch.as_tensor(np.stack([cov[:3, :3], cov[3:, 3:]]))
        np.testing.assert_allclose(found.psi_cov[1, :, 2 * place], entries(blocks), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.weight, np.repeat(counts / counts.sum() * 40, 2))


def test_blocks_change_nothing():
    whole, cut = (influence(limit_of(TOKENS, heads=HEADS, block=block), UNIFORM, 80, 50, Each()) for block in (64, 7))
    torch.testing.assert_close(whole.psi, cut.psi, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(whole.psi_cov, cut.psi_cov, rtol=1e-10, atol=1e-12)


def test_bias_is_the_expected_second_derivative():
    """B = E k(nu, nu) = sum_i k(e_i - mean) / N, for each of the halves, and kappa = E_z w^2."""
    limit = limit_of(TOKENS, heads=HEADS)
    found = exact_constants(limit)
    basis = [np.eye(40)[place] - UNIFORM for place in range(40)]
    exact = np.mean([derivatives(UNIFORM, TOKENS, HEADS, nu)[2] for nu in basis], 0)
    squares = [(exact[unit, unit] ** 2).sum() for unit in (slice(0, 3), slice(3, 6))]
    np.testing.assert_allclose(found["bias_squared"][:2], squares, rtol=1e-4)
    assert np.isnan(found["bias_squared"][2])
    first = [derivatives(UNIFORM, TOKENS, HEADS, nu)[:2] for nu in basis]
    np.testing.assert_allclose(
        found["constant"].sel(statistic="mean", head=-1), np.mean([m @ m for m, _ in first]), rtol=1e-4
    )
    cov = np.mean([(c[:3, :3] ** 2).sum() for _, c in first])
    np.testing.assert_allclose(found["constant"].sel(statistic="cov", head=0), cov, rtol=1e-4)
    scores = (TOKENS @ HEADS.query_weight[1].T + HEADS.query_bias[1]) @ (TOKENS @ HEADS.key_weight[1].T).T / 3**0.5
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(found["kappa"][1], 40 * (shares**2).sum(1).mean(), rtol=1e-10)


def test_the_second_kernel_is_the_second_derivative():
    head = Heads(*(part[:1] for part in HEADS))
    tokens = project(TOKENS, head, TOKENS.mean(0), "cpu", "float64")
    noise = RNG.normal(size=(40, 3))
    found = second_kernel(*(part[0] for part in tokens), torch.as_tensor(noise))
    for draw in range(3):
        nu = (noise[:, draw] - noise[:, draw].mean()) / 40**0.5 / 40**0.5
        exact = derivatives(UNIFORM, TOKENS, head, nu)[2]
        np.testing.assert_allclose(found[draw], exact * 40, rtol=1e-4, atol=1e-6 * np.abs(exact * 40).max())


def test_products_have_the_length_of_their_matrix():
    left, right = torch.randn(2, 5, 4, dtype=torch.float64, generator=torch.manual_seed(0))
    matrix = (left[:, :, None] * right[:, None] + right[:, :, None] * left[:, None]) / 2
    torch.testing.assert_close(products(left, right), entries(matrix))
    torch.testing.assert_close(products(left, right).norm(dim=-1), matrix.flatten(1).norm(dim=-1))
    assert torch.equal(squares(left).T, products(left, left))


def test_two_points_by_hand():
    """Tokens +1 and -1, A = alpha, T = tanh alpha: psi = 1 + T - T^2 in absolute value, psiC = 0.

    Second order is then all there is of the covariance: with K of n tokens positive, C_n is a function of K, so that
    n^2 E(C_n - C)^2 tends to B^2 + V2 and n E(C_n - C) to B.
    """
    alpha, n = 0.7, 20000
    hyper = np.tanh(alpha)
    tokens = np.array([[1.0], [-1.0]])
    found = exact_constants(limit_of(tokens, heads=identity(1, alpha)))
    assert float(found["constant"].sel(statistic="mean", head=0)) == pytest.approx((1 + hyper - hyper**2) ** 2)
    assert float(found["constant"].sel(statistic="cov", head=0)) == pytest.approx(0, abs=1e-20)
    positive = np.arange(1, n) / n
    up, down = np.exp(alpha), np.exp(-alpha)
    outputs = [
        (positive * a - (1 - positive) * b) / (positive * a + (1 - positive) * b) for a, b in ((up, down), (down, up))
    ]
    mean = positive * outputs[0] + (1 - positive) * outputs[1]
    cov = positive * outputs[0] ** 2 + (1 - positive) * outputs[1] ** 2 - mean**2
    law = binom.pmf(np.arange(1, n), n, 0.5)
    bias = n * (law @ (cov - hyper**2))
    assert float(found["bias_squared"][0]) == pytest.approx(bias**2, rel=1e-3)
    mean_square = n**2 * (law @ (cov - hyper**2) ** 2)
    draws = second_kernel(
        *(part[0] for part in project(tokens, identity(1, alpha), np.zeros(1), "cpu", "float64")),
        torch.randn(2, 200000, dtype=torch.float64, generator=torch.manual_seed(1)),
    ).flatten()
    assert float(draws.mean()) == pytest.approx(bias, rel=0.02)
    assert float(draws.var()) == pytest.approx(mean_square - bias**2, rel=0.03)


def test_normal_tokens_have_their_closed_form():
    """d = 1, N(0, s^2), h = A s^2 the horizon: psi(z) = h z + (1 + h^2)^-3/2 z exp(h^2 z^2 / (2 s^2 (1 + h^2))), and
    E psi^2 = s^2 (h^2 + 2 h + (1 - h^4)^-3/2), infinite from h = 1 on. Tokens are the nodes of a quadrature."""
    sigma, horizon = 1.5, 0.6
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    tokens, counts = sigma * nodes[:, None], 1e4 * weights / weights.sum()
    kept = counts > 1e-12
    limit = limit_of(tokens[kept], counts[kept], identity(1, horizon / sigma**2))
    found = influence(limit, np.full(kept.sum(), 1 / kept.sum()), 1, 2, Each())
    z = tokens[kept, 0]
    pull = np.exp(horizon**2 * z**2 / (2 * sigma**2 * (1 + horizon**2))) * (1 + horizon**2) ** -1.5
    inner = np.abs(z) < 3 * sigma
    np.testing.assert_allclose(found.psi[0, 0, ::2, 0][inner], (horizon * z + pull * z)[inner], rtol=1e-6, atol=1e-8)
    constant = float((found.weight * found.psi[0, 0, :, 0] ** 2).mean())
    assert constant == pytest.approx(sigma**2 * (horizon**2 + 2 * horizon + (1 - horizon**4) ** -1.5), rel=1e-4)


@pytest.mark.parametrize("radius", [0.8, 2.0])
def test_a_circle_has_the_constants_of_the_sphere(radius):
    """d = 2, A = V = I: R (1 + a - a^2) for the mean, R^2 a^2 sqrt(1/2) (1 + 2 (1 - b')) for the covariance."""
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    limit = limit_of(radius * np.stack([np.cos(angles), np.sin(angles)], 1))
    found = influence(limit, np.full(120, 1 / 120), 240, 240, Each())
    a = ive(1, radius**2) / ive(0, radius**2)
    b = 2 * (1 - a / radius**2) - 1  # b' = (d b - 1) / (d - 1), b = 1 - (d - 1) a / R^2
    mean, cov = (each[0, 0].norm(dim=-1).numpy() for each in (found.psi, found.psi_cov))
    np.testing.assert_allclose(mean, radius * (1 + a - a**2), rtol=1e-9)
    np.testing.assert_allclose(cov, radius**2 * a**2 * 0.5**0.5 * (1 + 2 * (1 - b)), rtol=1e-9)


def test_drawn_keys_and_scouts_are_unbiased():
    """Means over streams meet the numbers of all keys within four standard errors, stored ones being about right."""
    limit = limit_of(TOKENS, heads=HEADS)
    exact = exact_constants(limit)
    runs = [constants(limit, OPTIONS, np.random.default_rng(seed)) for seed in range(40)]
    for name in ("constant", "bias_squared", "kappa"):
        found = np.stack([run[name].values for run in runs])
        error = found.std(0, ddof=1) / len(runs) ** 0.5
        assert (np.abs(found.mean(0) - exact[name].values) < 4 * error + 1e-9)[np.isfinite(error)].all(), name
    stored = np.mean([run["constant_se"].values for run in runs], 0)
    spread = np.std([run["constant"].values for run in runs], 0, ddof=1)
    np.testing.assert_allclose(stored[:, :2] / spread[:, :2], 1, atol=0.5)


def test_drawn_queries_in_two_halves_are_unbiased():
    """100 of 1,000 queries, each for ten: cross products of the halves meet E|psi|^2, plain squares do not."""
    tokens = np.random.default_rng(8).normal(size=(1000, 6)) + 1
    whole = limit_of(tokens, heads=HEADS, block=1000)
    exact = exact_constants(whole)["constant"].values
    cross, plain = [], []
    for seed in range(100):
        chosen = np.sort(np.random.default_rng(seed).choice(1000, 100, replace=False))
        queries = Atoms(lambda places, chosen=chosen: tokens[chosen[places]], np.full(100, 10.0))
        limit = replace(whole, queries=queries, outputs=whole.outputs[chosen], totals=whole.totals[chosen])
        found = influence(limit, np.full(100, 1 / 100), 100, 100, np.random.default_rng(seed))
        cross.append([(each.prod(0)[0].sum(-1) * found.weight).mean() for each in (found.psi, found.psi_cov)])
        plain.append([(each[0, 0].square().sum(-1) * found.weight).mean() for each in (found.psi, found.psi_cov)])
    error = np.std(cross, 0) / 10
    assert np.all(np.abs(np.mean(cross, 0) - exact[:, 0]) < 3 * error)
    assert np.mean(plain, 0)[1] > 1.2 * exact[1, 0]  # noise of the queries, squared


def test_first_order_meets_simulation_where_the_remainder_is_small():
    """150 tokens, n = 400: mean and covariance, in 3,000 samples, within 4 %; a constant 15 % off would be seen."""
    rng = np.random.default_rng(1)
    tokens, heads = rng.normal(size=(150, 4)), dense.random_heads(rng, heads=1, width=4, feature=4, scale=0.35)
    limit = limit_of(tokens, heads=heads, block=64)
    found = exact_constants(limit, draws=64)
    n, mean, cov = 400, *moments_at(np.full(150, 1 / 150), tokens, heads)
    assert float(found["kappa"][0]) < 0.05 * n
    samples = [moments_at(rng.multinomial(n, np.full(150, 1 / 150)) / n, tokens, heads) for _ in range(3000)]
    measured = (
        np.mean([np.sum((m - mean) ** 2) for m, _ in samples]),
        np.mean([np.sum((c - cov) ** 2) for _, c in samples]),
    )
    first, second = found["constant"].values[:, 0] / n
    second += float(found["bias_squared"][0] + found["second_variance"][0]) / n**2
    np.testing.assert_allclose(np.sqrt([first, second]), np.sqrt(measured), rtol=0.04)


def test_scores_that_are_no_numbers_are_refused():
    tokens = TOKENS.copy()
    limit = limit_of(TOKENS, heads=HEADS)
    tokens[3, 0] = np.nan
    broken = Atoms(lambda places: tokens[places], np.ones(40))
    with pytest.raises(ValueError, match="tokens"):
        scout(
            Limit(
                broken, broken, *(getattr(limit, name) for name in ("outputs", "totals", "mean", "covariance", "how"))
            ),
            8,
            Each(),
        )


def test_a_square_of_all_tokens_tells_the_variance():
    found = square(limit_of(TOKENS, heads=HEADS), 80, 400, Each())
    again = square(limit_of(TOKENS, heads=HEADS), 80, 40, Each())
    np.testing.assert_allclose(found.mean(1), again.mean(1), rtol=0.6)
