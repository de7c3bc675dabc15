"""A limit from some of the queries and a surrogate: unbiased, its standard errors right, no bit of it by the cut."""

from functools import partial

import numpy as np
import pytest

from attnlimit.attention import regressors
from attnlimit.attention.regressors import FOLDS
from attnlimit.attention.streaming import Pass
from attnlimit.base.coordinates import whole_layer
from attnlimit.base.seeds import generator
from attnlimit.sampling import surrogate_limits
from attnlimit.sampling.limits import centre_of, keys_of
from attnlimit.sampling.merging import merge_surrogate
from attnlimit.sampling.surrogate_limits import (
    draw,
    fitted_surrogate,
    joined_outputs,
    marks_of,
    output_part,
    stored_surrogate,
    surrogate_part,
)
from support import dense

RNG = np.random.default_rng(0)
POPULATION, HEADS, WIDTH = 900, 2, 3
WORDS, PLACES = RNG.integers(25, size=POPULATION), RNG.integers(8, size=POPULATION)
TABLE = RNG.normal(size=(25, 8, 6)) * [2, 1, 1, 0.5, 0.3, 0.1] + 3
BLOCKS = np.repeat(np.arange(30), POPULATION // 30)
IS_MARK = marks_of(BLOCKS)
WORDS[IS_MARK], PLACES[IS_MARK] = 0, 0
TABLE[0, 0] = 7  # the marks are unlike all other tokens
TOKENS = TABLE[WORDS, PLACES]  # a function of word and place, as at layer 0
WEIGHTS = dense.random_heads(RNG, heads=HEADS, width=WIDTH, feature=6, scale=0.6)
EXACT_MEAN, EXACT_COVARIANCE = dense.moments(TOKENS, WEIGHTS)
UNITS = [slice(0, WIDTH), slice(WIDTH, None), slice(None)]


def tokens_of(numbers):
    return TOKENS[numbers]


def surrogate_limit(layer=1, queries=240, seed=0, parts=1, block=64):
    """The four steps, as the rules take them."""
    keys = keys_of(WORDS, PLACES, layer, tokens_of)
    how = Pass(WEIGHTS, centre_of(keys, block), block, "cpu", "float64")
    asked = draw(IS_MARK, queries, np.random.default_rng(seed))
    outputs, drawn = joined_outputs([output_part(keys, asked, tokens_of, part, parts, how) for part in range(parts)])
    fitted = fitted_surrogate(outputs["output"].values, drawn, keys, tokens_of, how)
    surrogate = stored_surrogate(fitted, how)
    stream = partial(generator, seed, "apply_surrogate", layer)
    applied = [surrogate_part(keys, surrogate, part, parts, how, stream) for part in range(parts)]
    return merge_surrogate(applied, fitted)


def test_exact_outputs_are_those_of_the_formula():
    drawn = draw(IS_MARK, 30, np.random.default_rng(1))
    how = Pass(WEIGHTS, np.zeros(6), 64, "cpu", "float64")
    part = output_part(keys_of(WORDS, PLACES, 0, tokens_of), drawn, tokens_of, 0, 1, how)
    found = part["output"] + WEIGHTS.value_bias.ravel()
    np.testing.assert_allclose(found, dense.outputs(TOKENS[drawn.number], TOKENS, WEIGHTS), rtol=1e-9)
    np.testing.assert_array_equal(part["query"], drawn.number)


@pytest.mark.parametrize(("queries", "marks"), [(160, 60), (20, 10), (900, 60)])
def test_marks_are_drawn_apart_and_shared_by_the_folds(queries, marks):
    """Of 60 marks all, if 64 are wanted, but never more than half of the queries."""
    drawn = draw(IS_MARK, queries, np.random.default_rng(2))
    assert len(np.unique(drawn.number)) == queries and (np.diff(drawn.number) > 0).all()
    np.testing.assert_array_equal(drawn.stratum, IS_MARK[drawn.number])
    assert np.bincount(drawn.stratum).tolist() == [queries - marks, marks]
    assert np.ptp(np.bincount(drawn.fold[drawn.stratum == 1], minlength=FOLDS)) <= 1
    assert drawn.sizes.tolist() == [POPULATION - 60, 60]


def test_too_few_marks_are_no_stratum():
    drawn = draw(np.arange(50) < 3, 20, np.random.default_rng(3))
    assert drawn.sizes.tolist() == [50] and (drawn.stratum == 0).all()


def test_marks_are_the_ends_of_blocks():
    np.testing.assert_array_equal(marks_of(np.array([0, 0, 0, 1, 1, 2])), [1, 0, 1, 1, 1, 1])


def test_all_queries_give_the_exact_limit():
    limit = surrogate_limit(queries=POPULATION)
    np.testing.assert_allclose(limit["limit_mean"], EXACT_MEAN, rtol=1e-9)
    np.testing.assert_allclose(limit["limit_covariance"], EXACT_COVARIANCE, rtol=1e-7, atol=1e-10)
    assert (limit["limit_mean_se"] == 0).all() and (limit["limit_covariance_se"] == 0).all()


@pytest.mark.parametrize(("layer", "spread_tokens"), [(0, 1000), (1, 200)])
def test_estimates_are_unbiased_and_their_standard_errors_right(layer, spread_tokens, monkeypatch):
    """Over many draws the mean estimate is the exact limit, and the deviations are as large as the store says.

    Also where the spread of the fits is from every fourth token only.
    """
    monkeypatch.setattr(regressors, "SPREAD_TOKENS", spread_tokens)
    draws = [surrogate_limit(layer, queries=240, seed=seed, block=256) for seed in range(135)]
    means = np.array([draw["limit_mean"].values - EXACT_MEAN for draw in draws])  # (draw, feature)
    covariances = np.array([draw["limit_covariance"].values - EXACT_COVARIANCE for draw in draws])
    for name, deviations in (("mean", means), ("covariance", covariances)):
        # The squared norm of a mean of k unbiased deviations is about their mean squared norm over k: 9 is three sigma.
        for place, unit in enumerate(UNITS):
            block = deviations[:, unit, unit] if name == "covariance" else deviations[:, unit]
            squares = (block**2).sum(tuple(range(1, block.ndim)))
            bias = (block.mean(0) ** 2).sum()
            assert bias < 9 * squares.mean() / len(draws)
            stated = np.array([draw[f"limit_{name}_se"].values[place] for draw in draws])
            assert 0.8 < np.sqrt(squares.mean() / (stated**2).mean()) < 1.25
    assert draws[0]["residual_share"].min() < 0.1  # one head gains much, the other, more peaked, nothing


def test_the_standard_error_is_smaller_than_that_of_the_queries_alone():
    rows = dense.outputs(TOKENS, TOKENS, WEIGHTS)
    limit = surrogate_limit(queries=400)
    plain = np.sqrt(rows.var(0).sum() / 400 * (1 - 400 / POPULATION))
    assert whole_layer(limit["limit_mean_se"]) < 0.5 * plain


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("parts", [2, 5, 40])
def test_another_cut_into_jobs_changes_no_bit(monkeypatch, layer, parts):
    """Forty jobs for a few blocks: most have nothing to do."""
    monkeypatch.setattr(surrogate_limits, "QUERIES_PER_BLOCK", 50)
    assert surrogate_limit(layer, parts=parts).identical(surrogate_limit(layer))


@pytest.mark.parametrize("queries", [4, 12])
def test_too_few_queries_for_products_are_told_and_honest(caplog, queries):
    limit = surrogate_limit(queries=queries)
    assert f"compute_limits.queries: {queries} are few for the products of {WIDTH} coordinates" in caplog.text
    deviation = np.linalg.norm(limit["limit_mean"] - EXACT_MEAN)
    assert 0 < deviation < 6 * float(whole_layer(limit["limit_mean_se"]))


def test_more_queries_than_one_product_needs_are_not_told(caplog):
    surrogate_limit(queries=240)
    assert caplog.text == ""
