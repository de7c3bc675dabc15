"""Couplings over pooled windows, against the definitions written out in float64."""

import numpy as np
import pytest
import torch

from attnlimit.attention.probe import probed
from attnlimit.questions.entry.measure import pooled_couplings
from support.language import WORDS, small_bert, small_llama, words

WINDOWS = [np.array([int(word[1:]) for word in words(24, seed).split()]) for seed in range(3)]


def root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def written_out(queries: np.ndarray, keys: np.ndarray) -> tuple[float, float]:
    """H and s0 of one head from all its queries and keys (token, width)."""
    of_queries, of_keys = (np.cov(each.T, bias=True) for each in (queries, keys))
    width = queries.shape[1]
    horizon = np.linalg.norm(root(of_queries) @ root(of_keys), 2) / np.sqrt(width)
    return horizon, np.linalg.norm(root(of_keys) @ queries.mean(0)) / np.sqrt(width)


def test_an_encoder_by_its_weights():
    """Queries and keys of layer 1 from the states before it: no probe, float64."""
    model = small_bert()
    states = []
    with torch.no_grad():
        for tokens in WINDOWS:
            states.append(model(torch.as_tensor(tokens)[None], output_hidden_states=True).hidden_states[1][0].double())
    own = model.encoder.layer[1].attention.self
    pooled = torch.cat(states)  # (token, feature)
    found = pooled_couplings(model, WINDOWS, [0, 1]).sel(layer=1)
    assert not found.attrs["causal"]
    for head in range(4):
        cut = slice(8 * head, 8 * head + 8)
        queries, keys = (
            (pooled @ each.weight[cut].double().T + each.bias[cut].double()).detach().numpy()
            for each in (own.query, own.key)
        )
        horizon, constant_tilt = written_out(queries, keys)
        assert float(found["horizon"][head]) == pytest.approx(horizon, rel=1e-5)
        assert float(found["constant_tilt"][head]) == pytest.approx(constant_tilt, rel=1e-5)


def test_a_decoder_whose_heads_share_keys():
    """Rotated queries and keys as the probe hands them on, pooled over windows: not a mean over windows."""
    model, seen = small_llama(), []

    def receive(layer, queries, keys, *_):
        if layer == 1:
            seen.append((queries[0].double().numpy(), keys[0].double().numpy()))

    with torch.no_grad(), probed(model, receive):
        for tokens in WINDOWS:
            model(torch.as_tensor(tokens)[None])
    queries, keys = (np.concatenate(each, 1) for each in zip(*seen, strict=True))  # (head, token, width)
    found = pooled_couplings(model, WINDOWS, [1]).sel(layer=1)
    assert found.attrs["causal"]
    for head in range(4):
        horizon, constant_tilt = written_out(queries[head], keys[head // 2])
        assert float(found["horizon"][head]) == pytest.approx(horizon, rel=1e-6)
        assert float(found["constant_tilt"][head]) == pytest.approx(constant_tilt, rel=1e-6)
    single = [
        written_out(queries[0][24 * row : 24 * row + 24], keys[0][24 * row : 24 * row + 24])[0] for row in range(3)
    ]
    assert abs(np.mean(single) / float(found["horizon"][0]) - 1) > 1e-3


def test_depth_counts_all_layers_of_the_model():
    found = pooled_couplings(small_llama(layers=5), WINDOWS[:1], [1, 4])
    assert found["depth"].values.tolist() == [0.25, 1.0] and found["layer"].values.tolist() == [1, 4]
    assert pooled_couplings(small_llama(layers=1), WINDOWS[:1], [0])["depth"].values.tolist() == [0.0]


def test_a_word_that_the_model_does_not_have_is_refused():
    with pytest.raises(ValueError, match=f"token {WORDS}, but the model has {WORDS} words"):
        pooled_couplings(small_llama(), [np.array([1, WORDS])], [0])
