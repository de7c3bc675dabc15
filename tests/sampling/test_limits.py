"""The limit of a layer, part by part, against the dense formula over all tokens."""

import numpy as np
import pytest

from attnlimit.attention.kernel import output_shift
from attnlimit.attention.streaming import Pass
from attnlimit.base.parts import cuts, share
from attnlimit.sampling.joining import MOMENTS, merged_moments
from attnlimit.sampling.limits import centre_of, drawn_queries, keys_of, limit_part
from support import dense

RNG = np.random.default_rng(0)
HEADS = dense.random_heads(RNG, heads=3, width=2, feature=6, scale=0.5)
WORDS, PLACES = RNG.integers(8, size=90), RNG.integers(4, size=90)
TABLE = RNG.normal(size=(8, 4, 6)) + 2
TOKENS = TABLE[WORDS, PLACES]  # (token, feature): a function of word and place, as at layer 0
BLOCK = 16


def tokens_of(numbers):
    assert (np.diff(numbers) > 0).all(), "gather reads increasing numbers"
    return TOKENS[numbers]


def parts_of(layer, queries, parts=1):
    keys = asked = keys_of(WORDS, PLACES, layer, tokens_of)
    if queries:
        asked = drawn_queries(len(WORDS), queries, tokens_of, np.random.default_rng(1))
    how = Pass(HEADS, centre_of(keys, BLOCK), BLOCK, "cpu", "float64")
    blocks = list(range(len(cuts(len(asked.counts), BLOCK))))
    return asked, [limit_part(keys, asked, share(blocks, part, parts), how) for part in range(parts)]


def merged(part):
    whole = merged_moments(part)
    return whole.mean + part["output_shift"].values, whole.covariance


@pytest.mark.parametrize("layer", [0, 3])
def test_all_queries_give_the_dense_limit(layer):
    asked, (part,) = parts_of(layer, queries=0)
    assert asked.counts.sum() == 90
    assert (len(asked.counts) < 40) == (layer == 0)  # atoms stand for equal tokens there
    for found, exact in zip(merged(part), dense.moments(TOKENS, HEADS), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layer", [0, 3])
def test_some_queries_are_tokens_drawn_once_that_attend_to_all(layer):
    asked, (part,) = parts_of(layer, queries=20)
    drawn = asked.read(slice(None))
    chosen = np.sort(np.random.default_rng(1).choice(90, 20, replace=False))
    np.testing.assert_array_equal(drawn, TOKENS[chosen])
    rows = dense.outputs(drawn, TOKENS, HEADS)
    mean, covariance = merged(part)
    np.testing.assert_allclose(mean, rows.mean(0), rtol=1e-10)
    np.testing.assert_allclose(covariance, np.cov(rows.T, bias=True), rtol=1e-8, atol=1e-12)
    assert part["output_count"].sum() == 20


@pytest.mark.parametrize("parts", [2, 3, 9])
def test_another_cut_into_jobs_gives_the_same_blocks_to_the_bit(parts):
    """Nine jobs for six blocks: some have nothing to do, and say so with all dimensions."""
    _, (whole,) = parts_of(3, queries=0)
    _, cut = parts_of(3, queries=0, parts=parts)
    assert [int(block) for part in cut for block in part["block"]] == list(range(6))
    for name in (*MOMENTS, "fourth_moment"):
        joined = np.concatenate([part[name].values for part in cut])
        np.testing.assert_array_equal(joined, whole[name])
    for part in cut:
        np.testing.assert_array_equal(part["centre"], whole["centre"])
        assert part["output_scatter"].dims == whole["output_scatter"].dims


def test_the_shift_is_that_of_the_centre():
    """The centre is the mean of the first keys: near the tokens, and the same in every job."""
    _, (part,) = parts_of(3, queries=0)
    np.testing.assert_allclose(part["centre"], TOKENS[:BLOCK].mean(0), rtol=1e-12)
    np.testing.assert_array_equal(part["output_shift"], output_shift(HEADS, part["centre"].values))


@pytest.mark.parametrize("layer", [0, 3])
def test_outputs_and_their_log_sum_exp_are_handed_on(layer):
    """What first order needs of the pass: softmax weights are exp(score - total), outputs the rows of the limit."""
    asked, (part,) = parts_of(layer, queries=0)
    tokens = asked.read(slice(None))
    outputs = dense.outputs(tokens, TOKENS, HEADS) - part["output_shift"].values
    np.testing.assert_allclose(part["output"], outputs, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(part["stands_for"], asked.counts)
    queries = (tokens @ HEADS.query_weight[1].T + HEADS.query_bias[1]) / 2**0.5
    scores = queries @ ((TOKENS - part["centre"].values) @ HEADS.key_weight[1].T).T
    np.testing.assert_allclose(part["total"][:, 1], np.log(np.exp(scores).sum(1)), rtol=1e-10)


def test_a_cut_into_jobs_changes_no_output():
    (_, (whole,)), (_, parts) = parts_of(3, queries=0), parts_of(3, queries=0, parts=3)
    for name in ("output", "total", "stands_for"):
        np.testing.assert_array_equal(np.concatenate([part[name].values for part in parts]), whole[name].values)
