"""The next token of a small random Llama: losses against transformers' own, and keys enough to be dense."""

import numpy as np
import pytest
import torch

from attnlimit.attention.keys import Kept
from attnlimit.questions.next_token.measure import Draws, compared, measure_answers, next_logits
from support.language import small_llama, word_tokenizer, words

TOKENS = np.asarray(word_tokenizer()(words(64, 3))["input_ids"])


def test_laws_are_compared_as_the_formulas_say():
    """Two tokens, two words: p = (1/2, 1/2) and (3/4, 1/4), q = (1/4, 3/4) and (3/4, 1/4)."""
    p, q = (torch.tensor(rows).log() for rows in ([[0.5, 0.5], [0.75, 0.25]], [[0.25, 0.75], [0.75, 0.25]]))
    found = compared(q, p, torch.tensor([1, 0]))
    assert found["loss"] == pytest.approx(-np.log(0.75))
    assert found["divergence"] == pytest.approx(0.5 * (0.5 * np.log(2) + 0.5 * np.log(2 / 3)))
    assert found["agreement"] == pytest.approx(0.5) or found["agreement"] == 1.0  # a tie goes either way


def test_the_dense_loss_is_that_of_transformers():
    model = small_llama()
    logits = next_logits(model, TOKENS)
    ids = torch.as_tensor(TOKENS)[None]
    with torch.no_grad():
        whole = model(input_ids=ids).logits[0]
    torch.testing.assert_close(logits, whole[31:-1] if len(logits) == 32 else whole[32:-1], atol=1e-4, rtol=1e-4)


def test_keys_enough_are_the_dense_model_and_fewer_are_not():
    model = small_llama()
    draws = Draws(["uniform", "sink_recent", "window"], [4, 100_000], 1, Kept(1, 8, 0), 5)
    answers = measure_answers(model, TOKENS, draws, 0)
    assert float(answers["divergence"].sel(n=100_000).max()) < 0.02
    assert float(answers["divergence"].sel(n=100_000, protocol="window").max()) < 1e-6
    assert float(answers["divergence"].sel(n=4).min()) > 0.05
    assert answers["agreement"].sel(n=100_000, protocol="window").item() == 1
    assert answers["loss"].sel(n=100_000, protocol="window").item() == pytest.approx(float(answers["dense_loss"]))
