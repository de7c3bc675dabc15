"""Heads with a scaled A: errors by the dense formula, the horizon that goes with alpha, refusals."""

import numpy as np
import pytest

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads
from attnlimit.questions.ablation.measure import (
    Layer,
    Setting,
    as_population,
    changed_head,
    chosen_settings,
    errors_of,
    require_heads,
    spread_heads,
    whole_blocks,
)
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap
from attnlimit.theory.geometry import horizons, tilt_bias, tilt_matrix
from support import dense

PROTOCOL = Protocol([8, 16, 40], replicates=4, group=2, nested=True, seed=7, device="cpu", dtype="float64")
RNG = np.random.default_rng(0)
HEADS = dense.random_heads(RNG, scale=0.4)
TOKENS = RNG.normal(size=(300, 6)) + 3  # a mean, which alpha scales too: alpha W_q m + b_q
EACH_ITS_OWN = as_population(TOKENS, np.arange(300), np.zeros(300, int), layer=1)


def measured(setting, protocol=PROTOCOL, population=EACH_ITS_OWN):
    return errors_of(setting, protocol, lambda number: Layer(HEADS, population, block=100))


def only(head: int) -> Heads:
    return Heads(*(part[[head]] for part in HEADS))


@pytest.mark.parametrize("alpha", [1, 2.5])
def test_errors_are_those_of_the_dense_formula(alpha):
    setting = Setting(1, 2, alpha)
    found = measured(setting)
    head = only(2)._replace(query_weight=alpha * only(2).query_weight)
    mean, covariance = dense.moments(TOKENS, head)
    for replicate in range(PROTOCOL.replicates):
        address = f"measure_ablation layer 1 head 2 alpha {alpha:g}"
        ((rows, _),) = draws(300, PROTOCOL.sizes, True, True, 7, 1, replicate, name=address)
        for i, size in enumerate(PROTOCOL.sizes):
            sample_mean, sample_covariance = dense.moments(TOKENS[rows[:size]], head)
            difference = sample_covariance - covariance
            exact = np.linalg.norm(sample_mean - mean), np.linalg.norm(difference), np.linalg.norm(difference, 2)
            assert found["error"][:, replicate, i] == pytest.approx(exact, rel=1e-9)
    spread = np.sqrt((TOKENS @ head.value_weight[0].T).var(0).sum())
    scales = spread, np.linalg.norm(covariance), np.linalg.norm(covariance, 2)
    assert found["limit_scale"] == pytest.approx(scales, rel=1e-9)


def test_the_horizon_goes_with_alpha_and_the_bias_stays():
    covariance = np.cov(TOKENS.T, bias=True)
    unscaled = horizons(covariance, tilt_matrix(HEADS.query_weight[0], HEADS.key_weight[0]))["horizon"]
    for alpha in (0.01, 1, 10):
        found = measured(Setting(1, 0, alpha))
        assert found["horizon"] == pytest.approx(alpha * unscaled, rel=1e-12)
        head = changed_head(HEADS, Setting(1, 0, alpha), TOKENS.mean(0))
        np.testing.assert_array_equal(head.query_bias, HEADS.query_bias[:1])
        np.testing.assert_array_equal(head.key_weight, HEADS.key_weight[:1])


@pytest.mark.parametrize("factor", [0, 0.5, 3])
def test_the_constant_tilt_goes_with_its_factor_and_the_horizon_stays(factor):
    """Scores are <A (x - m) + tau (A m + b), X>."""
    mean = TOKENS.mean(0)
    head = changed_head(HEADS, Setting(1, 2, 1.0, factor), mean)
    tilt = tilt_matrix(HEADS.query_weight[2], HEADS.key_weight[2])
    constant = tilt @ mean + tilt_bias(HEADS.query_bias[2], HEADS.key_weight[2])
    scores = (TOKENS @ head.query_weight[0].T + head.query_bias[0]) @ (TOKENS @ head.key_weight[0].T).T / np.sqrt(4)
    np.testing.assert_allclose(scores, ((TOKENS - mean) @ tilt.T + factor * constant) @ TOKENS.T, rtol=1e-9)
    found, plain = measured(Setting(1, 2, 1.0, factor)), measured(Setting(1, 2, 1.0))
    assert found["horizon"] == plain["horizon"]
    assert found["constant_tilt"] == pytest.approx(factor * plain["constant_tilt"], rel=1e-9, abs=1e-9)


def test_factors_on_the_tilt_are_settings_of_their_own():
    """Those of A are named as if there were no others; a factor of 1 is among them already."""
    settings = chosen_settings([(0, 1), (2, 0)], [0.5, 1], [1, 3])
    assert [setting.name for setting in settings[:3]] == [
        *("layer 0 head 1 alpha 0.5", "layer 0 head 1 alpha 1", "layer 0 head 1 alpha 1 tilt 3")
    ]
    assert len({setting.name for setting in settings}) == len(settings) == 6


def test_equal_tokens_of_layer_0_may_stand_for_each_other():
    ids = np.random.default_rng(1).integers(20, size=300)
    tokens = TOKENS[ids]
    population = as_population(tokens, ids, np.zeros(300, int), layer=0)
    assert len(population.numbers) <= 20
    merged = measured(Setting(0, 1, 1.0), population=population)
    apart = population._replace(numbers=np.arange(300), counts=np.ones(300, int))
    whole = measured(Setting(0, 1, 1.0), population=apart)
    for name in ("error", "limit_scale"):
        np.testing.assert_allclose(merged[name], whole[name], rtol=1e-9)


def test_settings_have_draws_of_their_own():
    """One seed for all scales would tie the points of a curve together."""
    rows = [draws(10**6, [5], True, True, 7, 1, 0, name=f"measure_ablation {Setting(1, 2, a).name}") for a in (1, 2)]
    assert (rows[0][0][0] != rows[1][0][0]).any()


def test_settings_are_fitted_like_those_of_a_simulation():
    settings = [Setting(1, head, alpha) for head in (0, 2) for alpha in (0.1, 1.0)]
    assert [setting.name for setting in settings][:2] == ["layer 1 head 0 alpha 0.1", "layer 1 head 0 alpha 1"]
    errors = measure_settings(settings, measured, PROTOCOL, "test")
    bootstraps = [Bootstrap(100, True, np.random.default_rng(number)) for number in range(3)]
    rates = fit_errors(errors, bootstraps, misfit=3, saturated=0.5)
    assert rates["beta"].dims == ("statistic", "part", "setting")
    assert np.isfinite(rates["beta"].sel(statistic="mean", part="error")).all()
    np.testing.assert_allclose(rates["horizon"][1] / rates["horizon"][0], 10)
    labels = {"of_layer": [1] * 4, "of_head": [0, 0, 2, 2], "alpha": [0.1, 1] * 2, "tilt_factor": [1] * 4}
    for name, numbers in labels.items():
        np.testing.assert_array_equal(rates[name], numbers)


@pytest.mark.parametrize("wrong", [[2, 0], [0, 3]])
def test_a_head_that_the_model_has_not_is_refused_by_the_config_key(wrong):
    message = rf"config: measure_ablation.heads: no \[{wrong[0]}, {wrong[1]}\]; .* layers 0 to 1 with heads 0 to 2$"
    with pytest.raises(ValueError, match=message):
        require_heads([[0, 0], wrong], layers=2, heads=3)


def test_heads_are_spread_evenly_in_log_horizon():
    horizons = {(0, 0): 0.1, (0, 1): 0.11, (0, 2): 8.0, (1, 0): 0.9, (1, 1): 10.0, (1, 2): 0.12}
    assert spread_heads(3, horizons) == [(0, 0), (1, 0), (1, 1)]
    assert spread_heads(1, horizons) == [(0, 0)]
    assert spread_heads(2, horizons) == [(0, 0), (1, 1)]
    assert spread_heads(10, horizons) == sorted(horizons)


@pytest.mark.parametrize(("population", "tokens"), [(1, 3), (3, 3), (4, 5), (5, 5), (6, 9), (10, 9)])
def test_the_population_is_the_first_whole_blocks(population, tokens):
    assert whole_blocks(np.array([0, 0, 0, 1, 1, 2, 2, 2, 2]), population) == tokens
