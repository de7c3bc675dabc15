"""Clouds of outputs: each token attends to its own sample, the plane is the limit's, the map is the same twice."""

import numpy as np
import pytest

from attnlimit.attention.kernel import Heads, project
from attnlimit.base.seeds import generator
from attnlimit.questions.clouds.measure import chosen_heads, in_leading_plane, outputs_at, tsne_map

HORIZONS = {(0, 0): 0.3, (0, 1): 2.0, (4, 0): 0.1, (4, 1): 2.0}


def test_a_token_attends_to_its_own_sample_alone():
    """Against the softmax by hand, sample by sample."""
    stream = generator(1, "clouds")
    tokens = stream.normal(size=(12, 3))
    heads = Heads(*(stream.normal(size=(1, 3, 3)) for _ in range(3)), stream.normal(size=(1, 3)), np.zeros((1, 3)))
    found = outputs_at(project(tokens, heads, np.zeros(3), "cpu", "float64"), 4)
    for sample in range(3):
        own = tokens[4 * sample : 4 * sample + 4]
        queries = (own @ heads.query_weight[0].T + heads.query_bias[0]) / np.sqrt(3)
        scores = np.exp(queries @ (own @ heads.key_weight[0].T).T)
        by_hand = scores / scores.sum(1, keepdims=True) @ (own @ heads.value_weight[0].T)
        assert found[4 * sample : 4 * sample + 4] == pytest.approx(by_hand)


def test_the_plane_is_that_of_the_limit_whatever_the_others_do():
    """Variances 9, 4, 1 along the axes of the last cloud: it falls along the first two, with its mean at 0."""
    limit = generator(2, "clouds").normal(size=(4000, 3)) * [1, 3, 2] + 5
    wild = 100 * generator(3, "clouds").normal(size=(4000, 3))
    plane = in_leading_plane(np.stack([wild, limit]))
    assert plane[-1].mean(0) == pytest.approx(0, abs=1e-9)
    assert plane[-1].std(0) == pytest.approx([3, 2], rel=0.05)
    assert abs(np.corrcoef(plane[-1].T)[0, 1]) < 1e-9
    assert plane[0].std(0) == pytest.approx(100, rel=0.1)


def test_extremes_are_the_weakest_and_the_strongest_head():
    assert chosen_heads("extremes", HORIZONS) == [(4, 0), (4, 1)]
    assert chosen_heads([[0, 1]], HORIZONS) == [(0, 1)]
    assert chosen_heads("extremes", {(2, 3): 1.0}) == [(2, 3)]
    with pytest.raises(ValueError, match=r"^config: measure_clouds\.heads: the model has no layer 0 with a head 7"):
        chosen_heads([[0, 7]], HORIZONS)


def test_the_map_is_the_same_twice_and_keeps_what_lies_apart_apart():
    clouds = generator(4, "clouds").normal(size=(2, 20, 5)) + np.array([0, 50])[:, None, None]
    first, again = (tsne_map(clouds, 5, 7) for _ in range(2))
    assert first.shape == (2, 20, 2) and np.array_equal(first, again)
    gap = np.linalg.norm(first[0].mean(0) - first[1].mean(0))
    assert gap > 2 * max(cloud.std() for cloud in first)
