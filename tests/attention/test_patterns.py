"""Patterns of sparse attention: exact budgets, what lies at the ends, dense float64 formulas, transformers' BigBird."""

from typing import get_args

import numpy as np
import pytest
import torch
from transformers import BigBirdConfig, BigBirdModel

from attnlimit.attention.kernel import Heads, Projected, project
from attnlimit.attention.patterns import (
    DRAWN,
    HERDING,
    INDEPENDENT,
    NAMES,
    ORACLE,
    PATTERNS,
    POOLED,
    PUBLISHED_WINDOW,
    STRIP,
    Place,
    attend_counts,
    attend_pattern,
    dense,
    groups,
    herding,
    possible,
    smallest_mass,
    top,
)
from attnlimit.questions.patterns.about import Pattern
from support.configs import DEFAULT

ONCE = [name for name in PATTERNS if name not in INDEPENDENT]  # read a key once at most


def counts(name: str, length: int, n: int, seed: int = 0) -> np.ndarray:
    return PATTERNS[name](Place(np.arange(length), length), n, np.random.default_rng(seed))


def tokens(length: int, heads: int = 2, width: int = 4, seed: int = 0) -> Projected:
    stream = np.random.default_rng(seed)
    return Projected(*(torch.as_tensor(stream.normal(size=(heads, length, width))) for _ in range(3)))


def formula(sample: Projected, weights: np.ndarray) -> np.ndarray:
    """sum_j c_ij e^<q_i, k_j> v_j / sum_j c_ij e^<q_i, k_j>, for weights (query, key)."""
    scores = np.exp((sample.queries @ sample.keys.mT).numpy()) * weights
    return scores / scores.sum(-1, keepdims=True) @ sample.values.numpy()


@pytest.mark.parametrize("name", PATTERNS)
def test_every_query_reads_its_budget(name):
    """At every length and budget, edges of the block included."""
    for length in (1, 2, 3, 16, 55, 64):
        for n in (n for n in range(1, length + 1) if possible(name, n, length)):
            read = counts(name, length, n)
            assert read.shape == (length, length) and (read.sum(1) == n).all() and read.min() >= 0
            assert name in INDEPENDENT or read.max() == 1


@pytest.mark.parametrize("name", [*ONCE, ORACLE, HERDING])
def test_a_budget_of_all_keys_is_dense_attention_to_the_bit(name):
    sample = tokens(60)
    (output,) = attend_pattern(name, sample, [60], lambda *_: np.random.default_rng(0))
    assert torch.equal(output, dense(sample))


def test_windows_hold_the_nearest_keys_and_stand_still_at_the_ends():
    length, place = 20, np.arange(20)
    distance = np.abs(place - place[:, None])
    for n in (1, 4, 7, 20):
        read = counts("window", length, n) > 0
        for query in range(length):
            assert read[query, query]
            farthest, nearest_left = distance[query][read[query]].max(), distance[query][~read[query]]
            assert farthest <= nearest_left.min(initial=length)
        assert (np.diff(np.where(read, place, length).min(1)) >= 0).all()
    assert (counts("window", length, 7)[:4] == counts("window", length, 7)[0]).all()


def test_dilated_windows_skip_every_second_key_until_none_is_left():
    length, place = 21, np.arange(21)
    odd = np.abs(place - place[:, None]) % 2 == 1
    for n in range(1, length + 1):
        read = counts("dilated", length, n) > 0
        even_keys = (~odd).sum(1)
        np.testing.assert_array_equal((read & odd).sum(1), np.maximum(n - even_keys, 0))
        assert read[place, place].all()


@pytest.mark.parametrize("name", ["window", "dilated"])
def test_larger_windows_hold_the_smaller_ones(name):
    reads = [counts(name, 30, n) for n in range(1, 31)]
    assert all((small <= large).all() for small, large in zip(reads, reads[1:], strict=False))


def test_strides_are_even_and_start_at_the_query():
    read = counts("strided", 24, 6)
    for query in range(24):
        assert set(np.flatnonzero(np.roll(read[query], -query))) == {0, 4, 8, 12, 16, 20}


def test_first_keys_are_read_by_all_and_half_of_the_rest_is_near():
    read = counts("global_window_random", 64, 16) > 0
    assert read[:, :4].all()
    near = counts("window", 60, 6) > 0  # of the keys that are not global
    assert (read[4:, 4:] | ~near).all()
    assert (read[4:, 4:] & ~near).sum(1).tolist() == [6] * 60


def test_the_published_pattern_draws_50_keys_from_outside_its_window():
    read, near = counts("window_random_50", 128, 81) > 0, counts("window", 128, 31) > 0
    assert (read | ~near).all() and (read & ~near).sum(1).tolist() == [50] * 128
    assert not possible("window_random_50", 50, 128) and possible("window_random_50", 51, 128)


def test_draws_follow_the_stream_and_cover_all_keys_alike():
    for name in PATTERNS:
        same, other = counts(name, 64, 60, seed=1), counts(name, 64, 60, seed=2)
        assert (same == counts(name, 64, 60, seed=1)).all()
        assert (same != other).any() == (name in DRAWN)
    drawn = sum(counts("random", 40, 30, seed) for seed in range(50)).sum(0)  # of 60,000 draws, to each key
    assert np.abs(drawn / 1500 - 1).max() < 4.5 / np.sqrt(1500)
    shared = counts("random_shared", 40, 30)
    assert (shared == shared[0]).all() and (counts("random", 40, 30)[0] != counts("random", 40, 30)[1]).any()


@pytest.mark.parametrize("name", PATTERNS)
def test_attention_to_a_pattern_equals_the_formula(name):
    sample, n = tokens(70), 60
    (output,) = attend_pattern(name, sample, [n], lambda *_: np.random.default_rng(3))
    np.testing.assert_allclose(output, formula(sample, counts(name, 70, n, seed=3)), rtol=1e-12, atol=1e-13)


def test_pooled_attention_reads_means_of_neighbours_by_their_size():
    sample = tokens(11)
    group = groups(11, 4)
    assert np.bincount(group).tolist() == [3, 3, 3, 2] and (np.diff(group) >= 0).all()
    means = [
        np.stack([part[:, group == number].mean(1) for number in range(4)], 1)
        for part in (sample.keys.numpy(), sample.values.numpy())
    ]
    pooled = Projected(sample.queries, *(torch.as_tensor(mean) for mean in means))
    (output,) = attend_pattern(POOLED, sample, [4], lambda *_: np.random.default_rng(0))
    np.testing.assert_allclose(output, formula(pooled, np.bincount(group)[None]), rtol=1e-12, atol=1e-13)


def test_top_reads_the_largest_scores_of_each_head_and_breaks_ties_by_place():
    sample = tokens(30)
    scores = sample.queries @ sample.keys.mT
    (output,) = attend_pattern("top", sample, [5], lambda *_: np.random.default_rng(0))
    least = np.sort(scores.numpy(), -1)[..., -5][..., None]
    np.testing.assert_allclose(output, formula(sample, scores.numpy() >= least), rtol=1e-12, atol=1e-13)
    (equal,) = top(torch.zeros(1, 2, 6), [4])
    assert (equal == 0).sum(-1).tolist() == [[4, 4]] and (equal[0, :, :4] == 0).all()


def test_the_weight_of_the_smallest_scores_by_sorting_weights():
    sample = tokens(30)
    scores = sample.queries @ sample.keys.mT
    weights = np.exp(scores.numpy())
    mass = smallest_mass(scores).numpy()
    assert mass.shape == (2, 30, 30)
    rising = np.sort(weights / weights.sum(-1, keepdims=True), -1)
    for left in (1, 7, 30):
        np.testing.assert_allclose(mass[..., left - 1], rising[..., :left].sum(-1), rtol=1e-12)


def dense_kernel(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """exp(-|k - k'|^2 / (2 sqrt(width))) (<v, v'> + E|v|^2) of centred keys and values of one head."""
    values = values - values.mean(0)
    apart = ((keys[:, None] - keys) ** 2).sum(-1)
    return np.exp(-apart / (2 * np.sqrt(keys.shape[1]))) * (values @ values.T + (values**2).sum(1).mean())


def test_herding_takes_the_key_that_brings_the_mean_feature_nearest():
    """Squared distance of the mean feature of those taken to that of all, from the whole kernel, at every candidate."""
    sample = tokens(24, width=3)
    order = herding(sample.keys + 5, sample.values - 2, 9).numpy()  # attention knows no shift of keys or values
    for head in range(2):
        kernel = dense_kernel(sample.keys[head].numpy(), sample.values[head].numpy())
        assert sorted(order[head]) == list(range(24))
        for step in range(9):
            distance = {}
            for key in set(range(24)) - set(order[head, :step]):
                weights = -np.full(24, 1 / 24)
                weights[[*order[head, :step], key]] += 1 / (step + 1)
                distance[key] = weights @ kernel @ weights
            assert min(distance, key=distance.__getitem__) == order[head, step]


def test_attention_to_herded_keys_equals_the_formula_in_every_strip():
    sample = tokens(STRIP + 20, width=3)
    outputs = attend_pattern(HERDING, sample, [5, 40], lambda *_: np.random.default_rng(0))
    order = herding(sample.keys, sample.values, 40)
    for n, output in zip([5, 40], outputs, strict=True):
        read = np.zeros((2, 1, STRIP + 20))
        np.put_along_axis(read[:, 0], order[:, :n].numpy(), 1, 1)
        np.testing.assert_allclose(output, formula(sample, read), rtol=1e-11, atol=1e-13)


def test_herded_keys_err_less_than_random_ones_and_the_more_so_the_more_they_are():
    """Of keys on a circle with values that vary smoothly along it: from 16 to 64 keys, faster than n^(-1/2)."""
    angle = torch.as_tensor(np.random.default_rng(1).uniform(0, 2 * np.pi, 400))
    circle = torch.stack([angle.cos(), angle.sin()], -1)[None]
    sample = Projected(circle, circle, circle)

    def error(name: str, seed: int = 0) -> np.ndarray:
        outputs = attend_pattern(name, sample, [16, 64], lambda n, _: np.random.default_rng([n, seed]))
        return np.array([float((output - dense(sample)).square().sum(-1).mean().sqrt()) for output in outputs])

    drawn, herded = np.mean([error("random_shared", seed) for seed in range(10)], 0), error(HERDING)
    assert (herded < drawn / 2).all() and np.log(herded[0] / herded[1]) / np.log(4) > 0.8
    assert np.log(drawn[0] / drawn[1]) / np.log(4) == pytest.approx(0.5, abs=0.2)


def test_long_sequences_are_read_in_strips_that_share_a_shared_draw():
    """Strips of queries, one after the other, and one sample of keys for all of them where it is shared."""
    length, n = STRIP + 40, 20
    sample = tokens(length, heads=1, width=2)
    streams = lambda n, strip: np.random.default_rng([n, strip])  # noqa: E731
    (shared,) = attend_pattern("random_shared", sample, [n], streams)
    np.testing.assert_allclose(shared, formula(sample, counts("random_shared", length, n, seed=[n, 0])), rtol=1e-11)
    (near,) = attend_pattern("window", sample, [n], streams)
    np.testing.assert_allclose(near, formula(sample, counts("window", length, n)), rtol=1e-11)


def test_independent_keys_may_be_more_than_there_are():
    sample = tokens(8)
    (output,) = attend_pattern("random", sample, [10**5], lambda *_: np.random.default_rng(0))
    np.testing.assert_allclose(output, dense(sample), atol=0.05)


@pytest.mark.parametrize(
    ("name", "n"), [("window", 9), ("top", 9), ("herding", 9), ("window", 0), ("window_random_50", 8)]
)
def test_a_budget_that_is_not_there_is_refused(name, n):
    with pytest.raises(ValueError, match=f"pattern {name}: no budget of {n} keys in a sequence of 8"):
        attend_pattern(name, tokens(8), [n], lambda *_: np.random.default_rng(0))


def test_an_unknown_pattern_is_refused_by_name_and_the_config_knows_all():
    with pytest.raises(ValueError, match="pattern 'windows': not one of random, "):
        attend_pattern("windows", tokens(8), [4], lambda *_: np.random.default_rng(0))
    assert list(get_args(Pattern)) == [*NAMES, PUBLISHED_WINDOW]
    assert DEFAULT["measure_patterns"]["patterns"] == list(NAMES)


BLOCK, BLOCKS = 4, 12


def bigbird_counts(random_blocks: np.ndarray) -> np.ndarray:
    """BigBird's pattern of one head, (token, token), from the random blocks (block - 2, number) of its rows.

    First and last block read everything and are read by all; the others read a window of three blocks, and random ones,
    which the model reads once more if they are in the window or global already.
    """
    read = np.zeros((BLOCKS, BLOCKS), int)
    middle = Place(np.arange(1, BLOCKS - 1), BLOCKS)
    read[1:-1] = PATTERNS["window"](middle, 3, np.random.default_rng(0))
    read[1:-1, [0, -1]] = 1
    for row, drawn in enumerate(random_blocks, 1):
        np.add.at(read[row], drawn, 1)
    read[[0, -1]] = 1
    return np.kron(read, np.ones((BLOCK, BLOCK), int))


@pytest.mark.parametrize("training", [False, True])
def test_bigbird_of_transformers_is_attention_to_such_a_pattern(training):
    """Trained, its random blocks differ by head; in use they are all the first block, which is then read again."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    kinds = {"attention_type": "block_sparse", "block_size": BLOCK, "num_random_blocks": 2, "vocab_size": 30}
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "max_position_embeddings": 64}
    model = BigBirdModel(BigBirdConfig(**sizes, **kinds, **still), add_pooling_layer=False).train(training)
    layer = model.encoder.layer[0].attention.self
    with torch.no_grad():
        for part in (layer.query, layer.key, layer.value):
            part.weight.mul_(20)
            part.bias.normal_()

    seen = {}
    layer.register_forward_hook(lambda _, given, output: seen.update(tokens=given[0], output=output[0]))
    model(torch.randint(0, 30, (1, BLOCK * BLOCKS)))
    length, plan = BLOCK * BLOCKS, layer._get_rand_attn_plan(BLOCK * BLOCKS, BLOCK, 2)
    np.random.seed(layer.seed)  # noqa: NPY002  # as the model does before its draw
    drawn = layer._bigbird_block_rand_mask_with_head(length, length, BLOCK, BLOCK, 2, *plan)

    def of_heads(parameter):
        return parameter.detach().double().numpy().reshape(2, 8, -1).squeeze()

    parts = [layer.query.weight, layer.key.weight, layer.value.weight, layer.query.bias, layer.value.bias]
    inputs = seen["tokens"][0].detach().double().numpy()
    sample = project(inputs, Heads(*map(of_heads, parts)), np.zeros(16), "cpu", "float64")
    read = np.stack([bigbird_counts(blocks) for blocks in drawn])  # (head, token, token)
    assert (read[0] == read[1]).all() != training
    assert (read.max() > 1) != training
    theirs = seen["output"][0].detach().double().reshape(-1, 2, 8).transpose(0, 1)

    def farthest(pattern: np.ndarray) -> float:
        ours = attend_counts(*sample, torch.as_tensor(pattern).double().log())
        ours += torch.as_tensor(of_heads(layer.value.bias))[:, None]  # which `project` leaves out
        return float((ours - theirs).abs().max() / theirs.abs().max())

    assert farthest(read) < 1e-5
    assert farthest(bigbird_counts(drawn[0][:, :0])) > 0.01  # without the random blocks
