"""Embeddings with drawn keys: dense where nothing is drawn, independent of the cut, with the horizons of the text."""

import numpy as np
import pytest
import torch
import xarray as xr

from attnlimit.questions.downstream.answers import answers, joined
from attnlimit.questions.downstream.measure import Drawing, couplings, dense_embedding, measure_text, pooled
from attnlimit.sources.model.bert import heads_dataset, load
from attnlimit.sources.model.classifier import Head
from attnlimit.sources.model.drawn_keys import dense_states
from attnlimit.theory.geometry import horizons, tilt_matrix
from support.small_models import save_checkpoint

TOKENS = [np.random.default_rng(number).integers(2, 40, 20) for number in range(6)]
DRAWING = Drawing(sizes=[4, 8, 15], replicates=2, replacement=True, seed=5)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    save_checkpoint("bert", folder)
    return load(folder)


@pytest.fixture(scope="module")
def heads(model):
    return heads_dataset(model)


def measured(model, heads, texts, drawing=DRAWING, head=None):
    parts = [measure_text(model, heads, head, TOKENS[text], text, drawing) for text in texts]
    return xr.concat(parts, "text", data_vars="all", coords="minimal", compat="override")


def test_the_embedding_is_the_mean_of_all_tokens_of_length_1(model):
    states = dense_states(model, TOKENS[0])[-1].double().numpy()
    mean = states.mean(0)
    np.testing.assert_allclose(dense_embedding(model, TOKENS[0]), mean / np.linalg.norm(mean), rtol=1e-5)


class EveryKeyOnce(Drawing):
    """No draw at all."""

    def counts(self, text, tokens, layers, replicate, n):
        return [np.ones((1, tokens), dtype=np.int64)] * layers


def test_a_draw_without_chance_is_the_dense_model(model, heads):
    """Error 0 up to rounding, and the same answers."""
    raw = measured(model, heads, range(6), EveryKeyOnce(*DRAWING))
    texts = xr.Dataset({"label": ("text", [0, 0, 1, 1, 2, 2])}, coords={"text": range(6)})
    found = answers("retrieval", raw, texts)
    assert float(found["embedding_error"].max()) < 1e-5
    assert bool(found["agrees"].all())
    assert (found["right"] == found["dense_right"]).all()


def test_many_keys_come_close_and_few_do_not(model, heads):
    drawing = DRAWING._replace(sizes=[4, 400, 40_000])
    raw = measured(model, heads, range(3), drawing)
    error = np.linalg.norm(raw["embedding"] - raw["dense_embedding"], axis=-1).mean((0, 1))
    assert error[0] > 5 * error[1] > 25 * error[2] > 0


def test_no_number_depends_on_the_cut_or_on_how_many_draws_there_are(model, heads):
    whole = measured(model, heads, range(4))
    cut = joined([measured(model, heads, [2, 3]), measured(model, heads, [0, 1])])
    xr.testing.assert_identical(joined([whole]), cut)
    more = measured(model, heads, range(4), DRAWING._replace(sizes=[2, 4, 8, 15], replicates=3))
    xr.testing.assert_identical(more["embedding"].sel(n=whole["n"], replicate=[0, 1]), whole["embedding"])
    other = measured(model, heads, range(4), DRAWING._replace(seed=6))
    assert not np.allclose(other["embedding"], whole["embedding"])
    np.testing.assert_array_equal(other["dense_embedding"], whole["dense_embedding"])


def test_couplings_are_those_of_the_texts_own_covariance(model, heads):
    states = dense_states(model, TOKENS[1])
    found = couplings(states[:-1], heads)["horizon"]
    for layer, head in [(0, 1), (2, 0)]:
        covariance = np.cov(states[layer].double().numpy().T, ddof=0)
        weights = (
            heads[f"{name}_weight"].sel(layer=layer, head=head).values.astype(float) for name in ("query", "key")
        )
        assert found[layer, head] == pytest.approx(horizons(covariance, tilt_matrix(*weights))["horizon"], rel=1e-4)


def test_scores_are_those_of_the_head_on_the_same_states(model, heads):
    """A head that hands on the first state: its scores are it."""
    features = heads.sizes["feature"]
    unit = torch.eye(features), torch.zeros(features)
    raw = measured(model, heads, [0], head=Head(unit, lambda states: states, unit))
    np.testing.assert_allclose(raw["dense_scores"][0], dense_states(model, TOKENS[0])[-1, 0], rtol=1e-5, atol=1e-6)
    assert raw["scores"].dims == ("text", "replicate", "n", "class") and not np.allclose(
        raw["scores"][0, 0, 0], raw["scores"][0, 1, 0]
    )


def test_pooled_is_of_length_1():
    assert np.linalg.norm(pooled(torch.tensor([[3.0, 0], [0, 4]]))) == pytest.approx(1)
    np.testing.assert_allclose(pooled(torch.tensor([[3.0, 0], [0, 4]])), [0.6, 0.8], rtol=1e-6)
