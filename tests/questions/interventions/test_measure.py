"""All heads of a layer with one thing changed: what is kept is kept, errors by the dense formula, paired draws."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads
from attnlimit.questions.interventions.measure import (
    Population,
    Variant,
    changed,
    couplings,
    intervene,
    limit_of,
    scaled,
    variants_of,
    whole_blocks,
)
from attnlimit.sampling.protocol import Protocol
from attnlimit.sampling.samples import Attention, layer_errors
from attnlimit.theory.geometry import tilt_bias, tilt_matrix
from support import dense

PROTOCOL = Protocol([8, 16, 40], replicates=4, group=2, nested=True, seed=7, device="cpu", dtype="float64")
RNG = np.random.default_rng(0)
HEADS = dense.random_heads(RNG, width=2, scale=0.4)
TOKENS = RNG.normal(size=(300, 6)) + 3  # a mean, so that A m is most of the constant tilt
POPULATION = Population.of(TOKENS, np.arange(300), np.zeros(300, int))
VARIANTS = variants_of([2, 4], [0, 2])


def measured(variants=VARIANTS, protocol=PROTOCOL, population=POPULATION, layer=1) -> xr.Dataset:
    return intervene(HEADS, population, layer, variants, 100, protocol)


@pytest.mark.parametrize("variant", [*VARIANTS, Variant(3.0, 0.5)])
def test_only_what_is_said_changes(variant):
    """Scores are <alpha A (x - m) + tau (A m + b), X>; by theory/geometry.py, H is exactly alpha H and s0 tau s0."""
    mean, own = TOKENS.mean(0), changed(HEADS, variant, TOKENS.mean(0))
    for head in range(3):
        tilt = tilt_matrix(HEADS.query_weight[head], HEADS.key_weight[head])
        constant = tilt @ mean + tilt_bias(HEADS.query_bias[head], HEADS.key_weight[head])
        queries = TOKENS @ own.query_weight[head].T + own.query_bias[head]
        scores = queries @ (TOKENS @ own.key_weight[head].T).T / np.sqrt(2)
        expected = (variant.alpha * (TOKENS - mean) @ tilt.T + variant.tilt_factor * constant) @ TOKENS.T
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    before, after = couplings(HEADS, POPULATION.law), couplings(own, POPULATION.law)
    for name, numbers in scaled(before, variant).items():
        np.testing.assert_allclose(after[name], numbers, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(after["horizon"], variant.alpha * before["horizon"], rtol=1e-12)
    np.testing.assert_array_equal(own.key_weight, HEADS.key_weight)


def test_scaling_the_weights_alone_would_change_the_constant_tilt_too():
    """With b kept and no query bias, s0 grows exactly as H does: alpha A m + b is not t0."""
    plain = HEADS._replace(query_bias=0 * HEADS.query_bias)
    naive = plain._replace(query_weight=4 * HEADS.query_weight)
    ratio = couplings(naive, POPULATION.law)["constant_tilt"] / couplings(plain, POPULATION.law)["constant_tilt"]
    assert ratio == pytest.approx(4)


def test_errors_are_those_of_the_dense_formula_on_the_same_samples():
    found = measured()
    assert found["variant"].values.tolist() == ["as it is", "H x 2", "H x 4", "centred", "tilt x 2"]
    for variant in VARIANTS:
        own = changed(HEADS, variant, TOKENS.mean(0))
        mean, covariance = dense.moments(TOKENS, own)
        for replicate in range(PROTOCOL.replicates):
            name = "measure_interventions"
            ((rows, _),) = draws(300, PROTOCOL.sizes, True, True, 7, 1, replicate, name=name)  # no variant in it
            for n in PROTOCOL.sizes:
                sample_mean, sample_covariance = dense.moments(TOKENS[rows[:n]], own)
                for head, unit in enumerate([slice(0, 2), slice(2, 4), slice(4, 6)]):
                    difference = (sample_covariance - covariance)[unit, unit]
                    exact = np.linalg.norm((sample_mean - mean)[unit]), np.linalg.norm(difference)
                    place = {"variant": variant.name, "head": head, "replicate": replicate, "n": n}
                    error = found["error"].sel(place).sel(statistic=["mean", "cov"])
                    assert error.values == pytest.approx(exact, rel=1e-8)
    centred = found.sel(variant="centred", head=0)
    assert centred["alpha"] == 1 and centred["constant_tilt"] == 0


def test_a_head_as_it_is_gives_the_numbers_of_the_plain_measurement_bit_by_bit():
    found = measured()
    limit = limit_of(HEADS, POPULATION, 1, 100, PROTOCOL)
    attention = Attention(HEADS, POPULATION.law.mean, "cpu", "float64")
    how = (300, PROTOCOL.sizes, True, True, 7, 1)
    samples = [draws(*how, replicate, name="measure_interventions") for replicate in range(4)]
    plain = layer_errors(samples, lambda numbers: TOKENS[numbers], attention, limit, 2, "plain")
    np.testing.assert_array_equal(found["error"].sel(variant="as it is"), plain["error"])
    float32 = Heads(*(part.astype(np.float32) for part in HEADS))
    own = changed(float32, Variant(), TOKENS.mean(0))
    for before, after in zip(float32, own, strict=True):
        np.testing.assert_array_equal(before, after)


def test_the_limit_of_each_variant_is_the_closed_form_for_gaussian_tokens():
    """mean V(m + Sigma t(m)), covariance V Sigma A Sigma A^T Sigma V^T with A and t of the variant, as tokens grow."""
    rng = np.random.default_rng(3)
    heads = dense.random_heads(rng, heads=1, width=2, feature=2, scale=0.45)
    mean, root = np.array([1.0, -0.5]), np.array([[0.8, 0.0], [0.2, 0.6]])
    sigma = root @ root.T
    tilt = tilt_matrix(heads.query_weight[0], heads.key_weight[0])
    constant = tilt @ mean + tilt_bias(heads.query_bias[0], heads.key_weight[0])
    value = heads.value_weight[0]
    for variant in VARIANTS:
        far = []
        for count in (300, 6000):
            # Blocks of tokens and their mirror images: the mean is exact, as Gaussian as before
            half = rng.normal(size=(count // 2, 2))
            tokens = mean + np.concatenate([half, -half]) @ root.T
            population = Population.of(tokens, np.arange(count), np.zeros(count, int))
            limit = limit_of(changed(heads, variant, mean), population, 1, 1000, PROTOCOL)
            a, t = variant.alpha * tilt, variant.tilt_factor * constant
            exact = value @ (mean + sigma @ t) + heads.value_bias[0]
            covariance = value @ sigma @ a @ sigma @ a.T @ sigma @ value.T
            scale = np.sqrt(np.trace(value @ sigma @ value.T))
            far.append(
                np.linalg.norm(limit["limit_mean"] - exact) / scale
                + np.linalg.norm(limit["limit_covariance"] - covariance) / scale**2
            )
        assert far[1] < 0.1 and far[1] < far[0], (variant.name, far)


def test_equal_tokens_of_layer_0_may_stand_for_each_other():
    ids = np.random.default_rng(1).integers(20, size=300)
    population = Population.of(TOKENS[ids], ids, np.zeros(300, int))
    merged, whole = (measured(VARIANTS[:2], population=population, layer=layer) for layer in (0, 1))
    np.testing.assert_allclose(merged["limit_scale"], whole["limit_scale"], rtol=1e-9)


def test_layers_have_draws_of_their_own():
    one, other = (measured(VARIANTS[:1], layer=layer)["error"].values for layer in (1, 2))
    assert (one != other).all()


def test_weights_that_are_no_numbers_are_refused():
    broken = HEADS._replace(query_bias=HEADS.query_bias * np.nan)
    with pytest.raises(ValueError, match="query_bias"):
        limit_of(changed(broken, Variant(2.0), TOKENS.mean(0)), POPULATION, 1, 100, PROTOCOL)


@pytest.mark.parametrize(("population", "tokens"), [(1, 3), (3, 3), (4, 5), (5, 5), (6, 9), (10, 9)])
def test_the_population_is_the_first_whole_blocks(population, tokens):
    assert whole_blocks(np.array([0, 0, 0, 1, 1, 2, 2, 2, 2]), population) == tokens
