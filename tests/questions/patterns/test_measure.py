"""Errors of sparse attention: exact expectations, flat attention, which blocks are read, what is stored."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
import torch
from scipy.stats import norm

from attnlimit.attention.kernel import Projected
from attnlimit.attention.patterns import NAMES, STRIP, published_tokens, smallest_mass
from attnlimit.questions.patterns.measure import (
    DELTAS,
    STATISTICS,
    Outputs,
    Reading,
    block_errors,
    chosen_blocks,
    distances_to_dense,
    expected_square,
    gaussian_scores,
    layer_errors,
    score_law,
    streams,
    top_law,
)


def sample(length: int, heads: int = 2, width: int = 3, seed: int = 0, queries: float = 1.0) -> Projected:
    stream = np.random.default_rng(seed)
    drawn = [torch.as_tensor(stream.normal(size=(heads, length, width))) for _ in range(3)]
    return Projected(queries * drawn[0], *drawn[1:])


def exact_square(tokens: Projected, n: int) -> np.ndarray:
    """E|y_n - y|^2 of independent keys, mean over queries, (head,): a sum over all outcomes of n draws."""
    length = tokens.keys.shape[1]
    scores = (tokens.queries @ tokens.keys.mT).exp().numpy()
    values = tokens.values.numpy()
    dense = scores / scores.sum(-1, keepdims=True) @ values
    total = 0.0
    for head in product(range(n + 1), repeat=length - 1):
        if sum(head) <= n:
            counts = np.array([*head, n - sum(head)])
            chance = factorial(n) / prod(map(factorial, counts.tolist())) / length**n
            weights = scores * counts
            outputs = weights / weights.sum(-1, keepdims=True) @ values
            total = total + chance * ((outputs - dense) ** 2).sum(-1).mean(-1)
    return np.asarray(total)


def test_the_expected_square_has_these_two_terms():
    """n E|error|^2 - c1 - c2 / n, from all outcomes of n draws of three keys, falls like 1 / n^2."""
    tokens = sample(3, seed=1, queries=0.3)
    first, second, size = expected_square(tokens)
    rest = {n: n * exact_square(tokens, n) - first - second / n for n in (30, 60)}
    assert (np.abs(rest[60]) < 0.05 * np.abs(second) / 60).all()
    np.testing.assert_allclose(rest[30] / rest[60], 4, rtol=0.15)
    assert (size >= np.abs(second)).all()


def test_flat_attention_is_a_mean_of_values():
    """Queries of 0: n E|error|^2 is the variance of the values at every n, and the error falls like n^(-1/2)."""
    tokens = sample(200, queries=0.0)
    first, second, size = expected_square(tokens)
    spread = tokens.values.var(1, correction=0).sum(-1).numpy()
    np.testing.assert_allclose(first, spread, rtol=1e-12)
    np.testing.assert_allclose([second, size], 0, atol=1e-10)
    found = block_errors(tokens, 0, Reading(["random"], [10, 160], 6, 0, 0))
    np.testing.assert_allclose(found["limit_scale"][0], np.sqrt(spread), rtol=1e-12)
    relative = np.sqrt((found["error"][0, 0] ** 2).mean(1)) / np.sqrt(spread)[:, None]  # (head, n)
    np.testing.assert_allclose(relative * np.sqrt([10, 160]), 1, rtol=0.06)


def test_distances_are_those_of_outputs_and_of_their_moments():
    stream = np.random.default_rng(0)
    one, other = (stream.normal(size=(2, 50, 3)) for _ in range(2))
    found = distances_to_dense(*(Outputs.of(torch.as_tensor(output)) for output in (one, other)))
    for head in range(2):
        apart = np.cov(one[head].T, bias=True) - np.cov(other[head].T, bias=True)
        expected = (
            np.sqrt(((one[head] - other[head]) ** 2).sum(1).mean()),
            np.linalg.norm(one[head].mean(0) - other[head].mean(0)),
            np.linalg.norm(apart),
        )
        np.testing.assert_allclose(found[:, head], expected, rtol=1e-12)


def test_what_a_block_stores():
    """NaN for budgets a pattern does not have, 0 where it reads every key once, replicates that differ where drawn."""
    tokens, sizes = sample(64), [16, 55, 64, 128]
    error = block_errors(tokens, 3, Reading(list(NAMES), sizes, 2, 7, 1))["error"]
    by_name = dict(zip(NAMES, np.moveaxis(error, 1, 0), strict=True))  # (statistic, head, replicate, n)
    assert error.shape == (len(STATISTICS), len(NAMES), 2, 2, 4)
    for name, errors in by_name.items():
        independent = name in ("random", "random_shared")
        known = [size >= 51 or name != "window_random_50" for size in sizes[:3]] + [independent]
        assert (np.isfinite(errors).all((0, 1, 2)) == known).all(), name
        assert (errors[..., 2] == 0).all() != independent
        repeated = (errors[:, :, 0, 1] == errors[:, :, 1, 1]).all()
        assert repeated != ("random" in name), name
    again = block_errors(tokens, 3, Reading(["window_random"], [55], 1, 7, 1))["error"]
    np.testing.assert_array_equal(again[:, 0, :, 0, 0], by_name["window_random"][:, :, 0, 1])  # alone, the same draw
    other = block_errors(tokens, 4, Reading(["window_random"], [55], 1, 7, 1))["error"]
    assert (other != again).all()


def test_a_layer_has_its_blocks_by_number():
    reading = Reading(["window", "top"], [4, 8], 1, 0, 5)
    found = layer_errors([(11, sample(10, seed=1)), (3, sample(9, seed=2))], reading)
    assert found["error"].dims == ("statistic", "pattern", "head", "block", "replicate", "n")
    assert found["left_out"].dims == ("head", "block", "n") and found["keys_needed"].dims == ("delta", "head", "block")
    assert found["block"].values.tolist() == [11, 3] and found["length"].values.tolist() == [10, 9]
    alone = block_errors(sample(9, seed=2), 3, reading)
    np.testing.assert_array_equal(found["error"].sel(block=3), alone["error"])


def block_numbers(lengths: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(lengths)), lengths)


def test_blocks_are_long_enough_and_spread_over_the_text():
    lengths = [9, 3, 9, 9, 2, 9, 9, 9]
    chosen = chosen_blocks(block_numbers(lengths), 3, [2, 9])
    assert [int(block_numbers(lengths)[tokens[0]]) for tokens in chosen] == [0, 3, 6]
    assert all(len(tokens) == 9 and (np.diff(tokens) == 1).all() for tokens in chosen)


def test_a_text_of_short_blocks_has_smaller_budgets_or_fewer_blocks():
    short = block_numbers([9, 5, 6, 3])
    assert [len(tokens) for tokens in chosen_blocks(short, 3, [2, 4, 9])] == [9, 5, 6]
    assert [len(tokens) for tokens in chosen_blocks(short, 10, [4, 9])] == [9, 5, 6]
    with pytest.raises(ValueError, match="measure_patterns.sizes: no block of the text holds 10 tokens, .* contexts"):
        chosen_blocks(short, 2, [10, 20])


def test_the_published_window_by_the_dense_formula():
    """One window at the middle and 50 tokens from outside, queries and keys alike, against the dense block: float64."""
    tokens = sample(131, queries=0.5)
    reading = Reading.of(
        {"patterns": ["published_window"], "sizes": [40, 61, 131], "random_sizes": [200], "replicates": 2}, 7, 1
    )
    found = block_errors(tokens, 3, reading)
    assert found["error"].shape[1] == 0  # it is no pattern of a query
    error = found["published_window_error"]  # (moment, head, replicate, n)
    assert np.isnan(error[..., [0, 3]]).all()  # too few for 50 random tokens, more than the block
    np.testing.assert_allclose(error[..., 2], 0, atol=1e-12)  # all tokens are the dense block
    queries, keys, values = (part.double().numpy() for part in tokens)

    def moments(chosen):
        scores = queries[:, chosen] @ keys[:, chosen].swapaxes(1, 2)
        weights = np.exp(scores)
        outputs = weights / weights.sum(-1, keepdims=True) @ values[:, chosen]
        return outputs.mean(1), np.stack([np.cov(head.T, bias=True) for head in outputs])

    dense_moments = moments(np.arange(131))
    drawn = [published_tokens(131, 61, streams("published_window", 3, r, reading)(61, 0)) for r in range(2)]
    assert not np.array_equal(*drawn)
    for replicate, chosen in enumerate(drawn):
        assert len(set(chosen)) == 61 and set(range(60, 71)) <= set(chosen)  # half-width 5 about 65
        for moment, (mine, whole) in enumerate(zip(moments(chosen), dense_moments, strict=True)):
            expected = np.sqrt(((mine - whole) ** 2).sum(tuple(range(1, mine.ndim))))
            np.testing.assert_allclose(error[moment, :, replicate, 1], expected, rtol=1e-9)


def test_the_error_of_the_largest_scores_is_what_they_leave_out_times_the_distance_of_two_means():
    """arXiv 2512.07647: both factors from their definitions, query by query, against the error measured; float64."""
    tokens, sizes = sample(STRIP + 20, queries=2.0), [3, 40, STRIP + 20, 400]
    found = block_errors(tokens, 0, Reading(["top"], sizes, 1, 0, 0))
    scores = (tokens.queries @ tokens.keys.mT).numpy()
    weights = np.exp(scores)
    weights /= weights.sum(-1, keepdims=True)
    for place, n in enumerate(sizes[:2]):
        kept = weights * (scores >= np.sort(scores, -1)[..., -n, None])
        left = weights - kept
        out = left.sum(-1)  # (head, query)
        means = [part / part.sum(-1, keepdims=True) @ tokens.values.numpy() for part in (kept, left)]
        apart = np.linalg.norm(means[0] - means[1], axis=-1)
        np.testing.assert_allclose(
            found["error"][0, 0, :, 0, place], np.sqrt(((out * apart) ** 2).mean(-1)), rtol=1e-10
        )
        np.testing.assert_allclose(found["left_out"][:, place], np.sqrt((out**2).mean(-1)), rtol=1e-12)
    assert (found["left_out"][:, 2] == 0).all() and np.isnan(found["left_out"][:, 3]).all()


def planted_law(spreads: list[float], law: str = "normal", length: int = 2000, queries: int = 60) -> dict:
    drawn = getattr(np.random.default_rng(0), law)(size=(len(spreads), queries, length))
    scores = torch.as_tensor(np.array(spreads)[:, None, None] * drawn / drawn.std(-1, keepdims=True) + 3)
    return score_law([gaussian_scores(part, smallest_mass(part)) for part in scores.split(queries // 2, 1)])


def test_normal_scores_need_the_keys_of_the_law_and_others_do_not():
    """The top share a of normal scores holds Phi(s - z_(1-a)) of the weight."""
    found = planted_law([1.1, 1.5, 2.0])
    for spread, gaussian in zip([1.1, 1.5, 2.0], found["keys_gaussian"].T, strict=True):
        assert norm.cdf(spread - norm.isf(gaussian)) == pytest.approx(1 - np.array(DELTAS), abs=1e-12)
    np.testing.assert_allclose(found["keys_needed"], found["keys_gaussian"], rtol=0.02)
    np.testing.assert_allclose(found["score_spread"], [1.1, 1.5, 2.0], rtol=1e-12)
    assert (found["asked"] == 1).all()
    assert (planted_law([1.5, 2.0], "laplace")["keys_needed"] < 0.85 * found["keys_gaussian"][:, 1:]).all()


def test_flat_and_peaked_queries_are_not_asked():
    """s below 1, and 10 exp(s^2) above 2,000 keys: s above 2.3."""
    found = planted_law([0.99, 1.01, 2.29, 2.31])
    assert found["asked"].tolist() == [0, 1, 1, 0]
    assert np.isnan(found["keys_needed"][:, [0, 3]]).all() and np.isfinite(found["keys_needed"][:, [1, 2]]).all()


def test_keys_needed_hold_the_weight_and_one_fewer_does_not():
    tokens = sample(200, heads=1, width=3, queries=1.0)
    found, count = top_law(tokens, [5]), []
    scores = (tokens.queries @ tokens.keys.mT).numpy()[0]
    for row in scores:
        s = np.sqrt(((row - row.mean()) ** 2).mean())
        if s >= 1 and 10 * np.exp(s**2) <= 200:
            falling = np.sort(np.exp(row) / np.exp(row).sum())[::-1]
            count.append(min(k for k in range(201) if falling[:k].sum() >= 0.95))
    assert 20 < len(count) < 200 and found["asked"][0] == len(count) / 200
    assert found["keys_needed"][1, 0] == pytest.approx(np.mean(count) / 200, rel=1e-12)
