"""Layers that attend to drawn keys: equal to transformers where it can say the same, and to repeated rows."""

import numpy as np
import pytest
import torch

from attnlimit.attention.kernel import Heads
from attnlimit.sources.model.bert import heads_dataset, load
from attnlimit.sources.model.drawn_keys import dense_states, draw_counts, drawn_states
from attnlimit.sources.model.families import FAMILIES
from support import dense
from support.small_models import save_checkpoint

TOKENS = 24
LAYERS = 3
CLOSE = 1e-5
ENDS = ("attention.output.dense", "attention.out_lin")  # what reads the heads' outputs


@pytest.fixture(scope="module", params=FAMILIES)
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    save_checkpoint(request.param, folder)
    return load(folder)


@pytest.fixture(scope="module")
def block() -> np.ndarray:
    return np.random.default_rng(0).integers(2, 40, TOKENS)


def distance(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).abs().max() / expected.abs().max())


@pytest.mark.parametrize("first", range(LAYERS))
def test_dense_from_any_layer_on_it_is_the_pass_of_transformers(model, block, first):
    """With no draw at all, and with counts that are all 1 or all 5."""
    states = dense_states(model, block)
    assert states.shape[:2] == (LAYERS + 1, TOKENS)
    everywhere = np.array([[1], [5]]) * np.ones((2, TOKENS), dtype=np.int64)
    for counts in (None, everywhere):
        found = list(drawn_states(model, states[first, None], [counts] * (LAYERS - first), first))
        assert len(found) == LAYERS - first
        for layer, after in enumerate(found, start=first + 1):
            assert len(after) == (1 if counts is None else 2)
            assert distance(after, states[layer]) < CLOSE


def test_a_subset_of_keys_is_the_mask_of_transformers(model, block):
    """Several replicates at once, the same subset in all layers: what attention_mask says of a padded text."""
    streams = [np.random.default_rng(seed) for seed in range(3)]
    counts = np.stack([draw_counts(TOKENS, 9, False, stream) for stream in streams])  # (replicate, key)
    ids, mask = torch.as_tensor(block).expand(3, -1), torch.as_tensor(counts)
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[1:]
    states = dense_states(model, block)
    for found, wanted, unmasked in zip(
        drawn_states(model, states[0, None], [counts] * LAYERS), expected, states[1:], strict=True
    ):
        assert distance(found, wanted) < CLOSE
        assert distance(found, unmasked) > 10 * CLOSE  # the draw is felt


def test_counts_are_rows_repeated_so_often(model, block):
    """Each layer with a draw of its own, against the formula in float64 on keys and values that are repeated."""
    counts = [draw_counts(TOKENS, 30, True, np.random.default_rng(layer)) for layer in range(LAYERS)]
    seen: list[np.ndarray] = []
    hooks = [
        module.register_forward_pre_hook(lambda module, given: seen.append(given[0][0].double().numpy()))
        for name, module in model.named_modules()
        if name.endswith(ENDS)
    ]
    start = dense_states(model, block)[0, None]
    seen.clear()
    outputs = list(drawn_states(model, start, [drawn[None] for drawn in counts]))
    for hook in hooks:
        hook.remove()
    heads = heads_dataset(model)
    inputs = [states[0].double().numpy() for states in (start, *outputs[:-1])]
    for layer, (tokens, drawn, found) in enumerate(zip(inputs, counts, seen, strict=True)):
        keys = np.repeat(tokens, drawn, axis=0)
        expected = dense.outputs(tokens, keys, Heads.of(heads.sel(layer=layer)))
        assert np.abs(found - expected).max() < CLOSE * np.abs(expected).max()


def test_a_replicate_does_not_feel_the_others(model, block):
    stream, states = np.random.default_rng(1), dense_states(model, block)
    counts = [np.stack([draw_counts(TOKENS, 12, True, stream) for _ in range(2)]), None]
    *_, together = drawn_states(model, states[1, None], counts, first=1)
    for replicate in range(2):
        *_, alone = drawn_states(model, states[1, None], [counts[0][[replicate]], None], first=1)
        assert distance(alone[0], together[replicate]) < CLOSE
    assert distance(together[0], together[1]) > 10 * CLOSE


def test_counts_of_a_draw():
    stream = np.random.default_rng(2)
    drawn = np.stack([draw_counts(10, 40, True, stream) for _ in range(2000)])
    assert (drawn.sum(1) == 40).all()
    np.testing.assert_allclose(drawn.mean(0), 4, atol=5 * np.sqrt(3.6 / 2000))
    np.testing.assert_allclose(drawn.var(0), 40 * 0.1 * 0.9, rtol=0.2)
    subset = draw_counts(10, 4, False, stream)
    assert sorted(subset) == [0] * 6 + [1] * 4


@pytest.mark.parametrize("n", [10, 11])
def test_all_keys_without_replacement_are_refused(n):
    with pytest.raises(ValueError, match=rf"^sizes: {n} keys of a block of 10 tokens; .*`replacement: true`$"):
        draw_counts(10, n, False, np.random.default_rng(0))


def test_counts_of_too_few_layers_are_refused(model, block):
    with pytest.raises(ValueError, match=r"^counts: of 1 layers, but the model has 2 from layer 1 on$"):
        list(drawn_states(model, dense_states(model, block)[1, None], [None], first=1))
