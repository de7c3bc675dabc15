"""Heads of a small random Llama on windows of words: against the formula, in any cut, and what is refused."""

import numpy as np
import pytest
import torch
from transformers import RobertaConfig, RobertaModel

from attnlimit.attention.key_protocols import PLAIN, PROTOCOLS
from attnlimit.attention.keys import Attention, Dense, Kept, even_places, received_weights, stratum, value_spread
from attnlimit.questions.keys.measure import (
    Reading,
    drawn_errors,
    first_order,
    head_facts,
    longest_window,
    measure_layer,
    read,
    require_window,
    windows_of,
)
from attnlimit.theory.projected import block_couplings
from support.language import WORDS, small_llama, word_tokenizer, words

KEPT = Kept(1, 4, 2)
READING = Reading([16, 32], 32, 8, KEPT, PROTOCOLS, [4, 64, 4096], 2, seed=5)


def random_layer(length=32, strength=1.5):
    stream = torch.Generator().manual_seed(2)
    queries = torch.randn(4, length, 6, generator=stream) * strength
    keys, values = (torch.randn(2, length, 6, generator=stream) for _ in range(2))
    return Attention.of(queries, keys, values, 6**-0.5, True)


def test_means_over_queries_are_those_of_each_query():
    layer, places = random_layer(), even_places(32, 8)
    found = first_order(layer, places, KEPT, ["uniform", "sink_recent"])
    chosen = torch.as_tensor(places)
    one = Dense.of(layer, chosen).first_order(layer, stratum("sink_recent", layer, chosen, KEPT))
    own = found.sel(protocol="sink_recent")
    np.testing.assert_allclose(own["first_order"], one.c1.mean(-1) / value_spread(layer) ** 2)
    np.testing.assert_allclose(own["second_moment"], one.second_moment.mean(-1))
    assert found["stratum"].values.tolist() == [np.mean(places + 1), np.mean(places + 1) - 5]


def test_facts_of_a_head():
    layer, places = random_layer(), even_places(32, 8)
    facts = head_facts(layer, places)
    weights = Dense.of(layer, torch.as_tensor(places)).weights
    np.testing.assert_allclose(facts["first_weight"], weights[..., 0].mean(-1))
    np.testing.assert_allclose(facts["effective_keys"], (1 / weights.square().sum(-1)).mean(-1))
    np.testing.assert_allclose(facts["entropy"], -(weights * weights.clamp(min=1e-300).log()).sum(-1).mean(-1))
    top = weights.sort(-1, descending=True).values[..., :16].sum(-1).mean(-1)
    np.testing.assert_allclose(facts["largest_mass"].sel(largest=16), top)
    np.testing.assert_allclose(facts["largest_mass"].sel(largest=256), 1)
    keys = layer.keys.repeat_interleave(2, 0).numpy()
    for name, expected in block_couplings(layer.queries.numpy(), keys).items():
        if name in facts:
            np.testing.assert_allclose(facts[name], expected, rtol=1e-5)


def test_errors_fall_to_the_first_order_and_vanish_where_all_keys_are_read():
    layer = random_layer()
    found = measure_layer(layer, READING, (0, 0))
    last = (found["error"].sel(n=4096) ** 2).mean("replicate")
    predicted = found["first_order"].sel(context=32) / 4096
    ratio = (last / predicted).sel(protocol=["uniform", "sink_recent"])
    assert 0.6 < float(ratio.mean()) < 1.6
    for name in ("reservoir", *PLAIN):
        assert float(last.sel(protocol=name).max()) < 1e-10
    assert (found["error"].sel(n=4) > found["error"].sel(n=4096)).all()
    assert found["kv_head"].values.tolist() == [0, 0, 1, 1]


def test_a_shorter_context_is_the_first_tokens_alone():
    """All protocols, heavy_recent too, whose weights of earlier queries come from one pass over the whole window."""
    layer = random_layer()
    of_both = measure_layer(layer, READING._replace(sizes=()), (0, 0))
    alone = measure_layer(layer.first(16), READING._replace(sizes=(), contexts=[16], context=16), (0, 0))
    for name in ("first_order", "second_moment", "stratum"):
        np.testing.assert_allclose(of_both[name].sel(context=16), alone[name].squeeze("context"), rtol=1e-10)


def test_draws_have_addresses():
    layer, places = random_layer(), even_places(32, 8)
    received = received_weights(layer, torch.as_tensor(places))
    addresses = (0, 0), (0, 0), (1, 0)
    one, same, other = (drawn_errors(layer, places, READING, each, received)["error"] for each in addresses)
    np.testing.assert_array_equal(one, same)
    assert (one.sel(protocol="uniform") != other.sel(protocol="uniform")).all()
    np.testing.assert_array_equal(one.sel(protocol="top"), other.sel(protocol="top"))


def test_blocks_of_queries_change_no_number(monkeypatch):
    whole = measure_layer(random_layer(), READING, (0, 0))
    monkeypatch.setattr("attnlimit.attention.keys.QUERIES_AT_ONCE", 3)
    cut = measure_layer(random_layer(), READING, (0, 0))
    for name in ("error", "first_order", "largest_mass"):
        np.testing.assert_allclose(cut[name], whole[name], rtol=1e-4, atol=1e-7)


def test_windows_are_the_first_tokens_of_a_text():
    tokens, short = windows_of(word_tokenizer(), [words(40, 1), words(31, 2)], 32)
    assert short is None and tokens.tolist() == [int(word[1:]) for word in words(40, 1).split()[:32]]


def test_bad_input_is_refused_in_one_line():
    model = small_llama(longest=64)
    with pytest.raises(ValueError, match="window: 128 tokens, but the model reads at most 64; pass window=64 or fewer"):
        require_window(model, READING._replace(contexts=[128]))
    config = RobertaConfig(max_position_embeddings=66, hidden_size=8, num_attention_heads=2, num_hidden_layers=1)
    assert longest_window(RobertaModel(config)) == 64, "two positions come before the first token's"
    with pytest.raises(ValueError, match="of which a protocol keeps 70"):
        require_window(model, READING._replace(kept=Kept(2, 64, 4)))
    with pytest.raises(ValueError, match=f"token 99, but the model has {WORDS} words"):
        read(model, [1, 99], lambda *_: None)
