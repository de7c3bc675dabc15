"""Attention on some keys of a context: exact expectations, the first order in closed form, and what must be refused."""

from itertools import permutations, product

import numpy as np
import pytest
import torch

from attnlimit.attention.key_protocols import PLAIN, SAMPLED
from attnlimit.attention.keys import (
    Attention,
    Dense,
    Kept,
    attend,
    chosen_weights,
    drawn_weights,
    even_places,
    received_weights,
    reservoir_weights,
    stratum,
    uniforms,
    value_spread,
    weighted_output,
)

KEPT = Kept(first=1, last=3, heavy=2)


def random_layer(length=24, heads=4, groups=2, width=5, causal=True, strength=1.0, seed=3):
    stream = torch.Generator().manual_seed(seed)
    queries = torch.randn(heads, length, width, generator=stream) * strength
    keys, values = (torch.randn(groups, length, width, generator=stream) for _ in range(2))
    return Attention.of(queries, keys, values, width**-0.5, causal)


def formula(layer, head, place):
    """Scores and values of one query by the plain formula, in float64."""
    group = head // layer.group
    end = place + 1 if layer.causal else layer.keys.shape[1]
    keys, values = layer.keys[group, :end].double(), layer.values[group, :end].double()
    return keys @ layer.queries[head, place].double() * layer.scaling, values


def strata(layer, protocol, places):
    received = received_weights(layer, places) if protocol == "heavy_recent" else None
    return stratum(protocol, layer, places, KEPT, received)


@pytest.mark.parametrize("causal", [True, False])
def test_dense_attention_is_the_formula(causal):
    layer = random_layer(causal=causal)
    places = torch.tensor([5, 23])
    dense = Dense.of(layer, places)
    for head, (row, place) in product(range(4), enumerate((5, 23))):
        scores, values = formula(layer, head, place)
        weights = torch.softmax(scores, 0)
        output = weights @ values
        torch.testing.assert_close(dense.output[head, row], output)
        torch.testing.assert_close(dense.weights[head, row, : len(weights)], weights)
        distances = (values - output).square().sum(1)
        torch.testing.assert_close(dense.distances[head, row, : len(weights)], distances)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("protocol", SAMPLED)
def test_the_first_order_is_its_formula(protocol, causal):
    layer = random_layer(causal=causal)
    places = torch.tensor([7, 23])
    drawn_from = strata(layer, protocol, places)
    found = Dense.of(layer, places).first_order(layer, drawn_from)
    for head, (row, place) in product(range(4), enumerate((7, 23))):
        scores, values = formula(layer, head, place)
        weights = torch.softmax(scores, 0)
        inside = drawn_from.others.expand(4, -1, -1)[head, row, : len(weights)]
        p, shift = weights[inside], (values - weights @ values)[inside]
        count = len(p)
        assert count == drawn_from.size[row]
        c1 = count * (p**2 * shift.square().sum(1)).sum() - (p[:, None] * shift).sum(0).square().sum()
        torch.testing.assert_close(found.c1[head, row], c1)
        torch.testing.assert_close(found.second_moment[head, row], count * (p**2).sum())


def test_a_flat_head_averages_its_values():
    """With equal scores c1 / S^2 is 1 at the last query, whose keys are the window, and E u^2 = 1: n(eps) = 1/eps^2."""
    layer = random_layer(strength=0.0)
    places = torch.tensor([23])
    found = Dense.of(layer, places).first_order(layer, strata(layer, "uniform", places))
    torch.testing.assert_close(found.c1[:, 0] / value_spread(layer) ** 2, torch.ones(4, dtype=torch.float64))
    torch.testing.assert_close(found.second_moment[:, 0], torch.ones(4, dtype=torch.float64))


def test_two_keys_by_hand():
    """p = (3/4, 1/4), v = (0, 1), o = 1/4: c1 = 2 (9/16 1/16 + 1/16 9/16) = 9/64; with the first kept, 0."""
    queries, keys = torch.tensor([[[0.0], [1.0]]]), torch.tensor([[[np.log(3.0)], [0.0]]])
    layer = Attention.of(queries, keys, torch.tensor([[[0.0], [1.0]]]), 1.0, True)
    places = torch.tensor([1])
    dense = Dense.of(layer, places)
    assert dense.weights.flatten().tolist() == pytest.approx([0.75, 0.25])
    assert float(dense.first_order(layer, strata(layer, "uniform", places)).c1) == pytest.approx(9 / 64, rel=1e-6)
    assert float(dense.first_order(layer, strata(layer, "sink", places)).c1) == pytest.approx(0, abs=1e-9)


def enumerated(layer, protocol, place, n):
    """Every draw of n keys, all equally likely: its weights and its output, of all heads."""
    places = torch.tensor([place])
    drawn_from = strata(layer, protocol, places)
    count = int(drawn_from.size[0])
    scores = layer.scores(places)
    for ranks in product(range(count), repeat=n):
        middle = (torch.tensor([ranks], dtype=torch.float64) + 0.5) / count
        weights = drawn_weights(drawn_from, middle)
        yield weights, weighted_output(layer, scores, weights)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("protocol", ["uniform", "sink", "heavy_recent"])
def test_all_draws_together_are_unbiased_in_numerator_and_denominator(protocol, n):
    layer = random_layer(length=8)
    place = 7
    mean = torch.stack([weights.expand(4, -1, -1) for weights, _ in enumerated(layer, protocol, place, n)]).mean(0)
    torch.testing.assert_close(mean, torch.ones_like(mean))  # each key counts once, so any sum over keys is unbiased


@pytest.mark.parametrize("n", [1, 2])
def test_all_draws_of_three_keys_give_the_expected_square_error(n):
    """Against the definition, key by key, in float64."""
    layer = random_layer(length=3)
    dense_output = Dense.of(layer, torch.tensor([2])).output
    squares = [(each - dense_output).square().sum(-1) for _, each in enumerated(layer, "uniform", 2, n)]
    for head in range(4):
        scores, values = formula(layer, head, 2)
        dense = torch.softmax(scores, 0) @ values
        exact = []
        for drawn in product(range(3), repeat=n):
            raw = scores[list(drawn)].exp()
            exact.append(((raw @ values[list(drawn)]) / raw.sum() - dense).square().sum())
        expected = float(torch.stack(exact).mean())
        assert float(torch.stack(squares)[:, head].mean()) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("protocol", SAMPLED)
def test_many_draws_are_dense_and_the_error_falls_as_the_first_order_says(protocol):
    layer = random_layer(length=24)
    places = torch.tensor([17, 23])
    drawn_from, dense = strata(layer, protocol, places), Dense.of(layer, places)
    scores, stream, squares, n = layer.scores(places), np.random.default_rng(5), [], 2000
    for _ in range(300):
        weights = drawn_weights(drawn_from, uniforms(stream, 2, n, torch.device("cpu")))
        squares.append((weighted_output(layer, scores, weights) - dense.output).square().sum(-1))
    predicted = dense.first_order(layer, drawn_from).c1 / n
    measured = torch.stack(squares).mean(0)
    assert float((measured / predicted).mean()) == pytest.approx(1, abs=0.1)
    assert abs(float((2 * measured / predicted).mean()) - 1) > 0.5  # the check would see half or twice the error
    count = int(drawn_from.size.max())
    even = ((torch.arange(count * 50, dtype=torch.float64) % count + 0.5) / count).expand(2, -1)
    only = drawn_from.size == count
    exact = weighted_output(layer, scores, drawn_weights(drawn_from, even))
    torch.testing.assert_close(exact[:, only].double(), dense.output[:, only], atol=1e-5, rtol=1e-5)


def test_the_tags_have_the_law_of_algorithm_r():
    """Three keys reach a reservoir of one place: by tags and by Algorithm R the states have the same joint law."""
    layer = random_layer(length=6, heads=2)
    places = torch.tensor([3, 4, 5])
    drawn_from = stratum("reservoir", layer, places, Kept(1, 2, 0))  # strata {1}, {1, 2}, {1, 2, 3}
    by_tags = []
    for order in permutations(range(6)):
        held = reservoir_weights(drawn_from, torch.tensor(order, dtype=torch.float64), 1) * drawn_from.others
        by_tags.append(tuple(held[0].argmax(-1).tolist()))
        assert held[0].sum(-1).tolist() == [1, 2, 3]  # m / n
    algorithm_r = []
    for second, third in product(range(2), range(3)):
        state = [1, 2 if second == 0 else 1]
        algorithm_r.append((*state, 3 if third == 0 else state[-1]))
    law = {state: algorithm_r.count(state) / 6 for state in set(algorithm_r)}
    assert {state: by_tags.count(state) / 720 for state in set(by_tags)} == pytest.approx(law)


def test_a_reservoir_with_room_for_all_is_dense():
    layer = random_layer()
    places = torch.tensor([11, 23])
    weights = reservoir_weights(stratum("reservoir", layer, places, KEPT), torch.rand(24).double(), 24)
    assert torch.equal(weights, layer.readable(places).float())


@pytest.mark.parametrize("protocol", PLAIN)
def test_what_draws_nothing_reads_exactly_so_many_keys(protocol):
    layer = random_layer()
    places = torch.tensor([2, 23])
    scores = layer.scores(places)
    weights = chosen_weights(protocol, layer, places, scores, 2, Kept(2, 1, 0))
    assert weights.sum(-1)[..., 0].unique().tolist() == [3] and weights.sum(-1)[..., 1].unique().tolist() == [5]
    if protocol == "top":
        kept, left = scores[:, 1][weights[:, 1] > 0], scores[:, 1][weights[:, 1] == 0]
        assert kept.view(4, -1).min(-1).values.ge(left.view(4, -1).max(-1).values).all()
    else:
        first = [0, 1] if protocol == "sink_window" else [19, 20]
        assert weights[0, 1].nonzero().flatten().tolist() == [*first, 21, 22, 23]


def test_heavy_keys_are_those_that_earlier_queries_read_most():
    layer = random_layer(strength=3.0)
    places = torch.tensor([9, 23])
    weights = torch.softmax(layer.scores(torch.arange(24), torch.float64), -1)
    received = received_weights(layer, places)
    for row, place in enumerate((9, 23)):
        torch.testing.assert_close(received[:, row].double(), weights[:, :place].sum(1), atol=1e-5, rtol=1e-5)
    mask = stratum("heavy_recent", layer, places, KEPT, received).kept
    for head in range(4):
        eligible = weights[head, :23, :21].sum(0)
        assert set(mask[head, 1].nonzero().flatten().tolist()) == {21, 22, 23, *eligible.topk(2).indices.tolist()}


@pytest.mark.parametrize("protocol", [*SAMPLED[1:], "reservoir"])
def test_queries_with_fewer_keys_than_are_kept_read_them_all(protocol):
    layer = random_layer()
    places = torch.tensor([0, 1])
    drawn_from = strata(layer, protocol, places)
    count = drawn_from.size.tolist()
    assert (count == [0, 1]) if protocol == "sink" else (count == [0, 0])
    weights = drawn_weights(drawn_from, uniforms(np.random.default_rng(1), 2, 4, torch.device("cpu")))
    assert torch.equal(weights.expand(4, -1, -1)[:, :, :2].bool(), layer.readable(places)[..., :2].expand(4, -1, -1))


def test_all_queries_in_blocks_of_any_size_are_the_same_dense_output(monkeypatch):
    layer = random_layer(length=30)
    kept = Kept(4, 26, 0)
    dense = Dense.of(layer, torch.arange(30)).output.float()
    torch.testing.assert_close(attend(layer, "window", 1, kept), dense, atol=1e-5, rtol=1e-5)
    monkeypatch.setattr("attnlimit.attention.keys.QUERIES_AT_ONCE", 7)
    torch.testing.assert_close(attend(layer, "window", 1, kept), dense, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="random stream"):
        attend(layer, "uniform", 1, kept)


def test_places_are_even_in_the_last_half_and_end_with_the_last():
    assert even_places(16, 4).tolist() == [9, 11, 13, 15]
    assert even_places(16, 99).tolist() == list(range(8, 16))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"queries": torch.randn(3, 4, 2)}, "3 heads are no multiple of 2 KV heads"),
        ({"keys": torch.full((2, 4, 2), torch.nan)}, "keys are not finite"),
        ({"values": torch.full((2, 4, 2), torch.inf)}, "values are not finite"),
    ],
)
def test_what_would_be_measured_wrongly_is_refused(change, words):
    given = {name: torch.ones(2, 4, 2) for name in ("queries", "keys", "values")} | change
    with pytest.raises(ValueError, match=words):
        Attention.of(**given, scaling=1.0, causal=True)


def test_values_that_do_not_vary_have_no_scale():
    with pytest.raises(ValueError, match="no scale"):
        value_spread(Attention.of(torch.ones(2, 4, 2), torch.ones(2, 4, 2), torch.ones(2, 4, 2), 1.0, True))
