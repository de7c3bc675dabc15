"""The probe: the formula gives the model's own output, what it receives is what the scores see, the rest is refused."""

import numpy as np
import pytest
import torch
import transformers

from attnlimit.attention.probe import attend, probed, refusal, require_same_output
from attnlimit.sources.model.bert import heads_dataset, layer_inputs, load
from attnlimit.theory.geometry import (
    constant_tilt,
    horizons,
    tilt_bias,
    tilt_matrix,
)
from attnlimit.theory.moments import moments
from attnlimit.theory.projected import couplings
from support.small_decoders import DECODERS, GROUPED, SIZES, small_decoder
from support.small_models import CHECKPOINTS, save_checkpoint

IDS = torch.as_tensor(np.random.default_rng(0).integers(2, 40, (2, 300)))
ENCODERS = ["bert", "roberta", "distilbert"]


def received(model, ids=IDS):
    """What the probe receives in a pass, by layer, and the output."""
    seen = {}

    def receive(layer, queries, keys, values, scaling, causal):
        seen[layer] = (queries, keys, values, scaling, causal)

    with torch.no_grad(), probed(model, receive):
        output = model(input_ids=ids)[0]
    return seen, output


@pytest.mark.parametrize("name", DECODERS)
def test_the_formula_gives_the_logits_of_the_model(name):
    model = small_decoder(name)
    own = model.config._attn_implementation
    with torch.no_grad():
        expected = model(input_ids=IDS)[0]
    seen, found = received(model)
    assert found.sub(expected).abs().max() < 1e-5 * max(1, expected.abs().max())
    groups = DECODERS[name].get("num_key_value_heads", 4)
    assert list(seen) == [0, 1, 2] and model.config._attn_implementation == own
    for queries, keys, values, scaling, causal in seen.values():
        assert queries.shape == (2, 4, 300, 8) and keys.shape == values.shape == (2, groups, 300, 8)
        assert scaling == pytest.approx(8**-0.5) and causal
    with torch.no_grad():
        assert torch.equal(model(input_ids=IDS)[0], expected)  # its own attention again
    require_same_output(model, IDS)


@pytest.mark.parametrize("family", ENCODERS)
def test_encoders_hand_over_what_their_projections_give(family, tmp_path):
    """Queries, keys, values to 1e-5; H and s0 from their moments as from those of the tokens."""
    save_checkpoint(family, tmp_path)
    model = load(tmp_path)
    ids = IDS[:1, :298]
    with torch.no_grad():
        expected = model(input_ids=ids)[0]
    seen, output = received(model, ids)
    assert output.sub(expected).abs().max() < 1e-5
    heads, (tokens,) = heads_dataset(model).astype(np.float64), layer_inputs(model, [ids[0].numpy()])
    for layer, (queries, keys, values, scaling, causal) in seen.items():
        assert not causal
        of_layer, x = heads.sel(layer=layer), tokens[layer].astype(np.float64)
        for name, tensor in {"query": queries, "key": keys, "value": values}.items():
            weight, bias = of_layer[f"{name}_weight"].values, of_layer[f"{name}_bias"].values
            projected = np.einsum("hwf,tf->htw", weight, x) + bias[:, None]
            np.testing.assert_allclose(tensor[0].numpy(), projected, atol=1e-5 * np.abs(projected).max())
        population = moments(x)
        weights = [of_layer[name].values[0] for name in ("query_weight", "key_weight", "query_bias")]
        tilt, bias = tilt_matrix(*weights[:2]), tilt_bias(weights[2], weights[1])
        query, key = (moments(each[0, 0].double().numpy()) for each in (queries, keys))
        found = couplings(query.mean, query.covariance, key.covariance, scaling**-2)
        assert found["horizon"] == pytest.approx(horizons(population.covariance, tilt)["horizon"], rel=1e-4)
        tilted = constant_tilt(population.mean, population.covariance, tilt, bias)
        assert found["constant_tilt"] == pytest.approx(tilted, rel=1e-4)


def test_an_output_that_is_returned_replaces_attention_and_must_have_its_shape():
    model = small_decoder("Llama")
    with torch.no_grad():
        expected = model(input_ids=IDS)[0]
        with probed(model, lambda layer, q, k, v, scaling, causal: attend(q, k, v, scaling, causal)):
            assert model(input_ids=IDS)[0].sub(expected).abs().max() < 1e-5 * expected.abs().max()
        with probed(model, lambda layer, q, k, v, scaling, causal: torch.zeros_like(q)):
            assert model(input_ids=IDS)[0].sub(expected).abs().max() > 0.1
        with pytest.raises(ValueError, match="layer 0: an output of shape"), probed(model, lambda *given: given[2]):
            model(input_ids=IDS)
        assert torch.equal(model(input_ids=IDS)[0], expected)  # restored after an error, too


def test_attention_is_the_dense_formula_with_and_without_cached_keys():
    rng = torch.Generator().manual_seed(1)
    queries, keys, values = (torch.randn(1, heads, 700, 5, generator=rng).double() for heads in (4, 2, 2))
    scores = 0.3 * queries @ keys.repeat_interleave(2, 1).transpose(-1, -2)
    masked = scores.masked_fill(torch.ones(700, 700).triu(1).bool(), -torch.inf)
    dense = [each.softmax(-1) @ values.repeat_interleave(2, 1) for each in (scores, masked)]
    torch.testing.assert_close(attend(queries, keys, values, 0.3, False), dense[0])
    torch.testing.assert_close(attend(queries, keys, values, 0.3, True), dense[1])
    torch.testing.assert_close(attend(queries[:, :, 690:], keys, values, 0.3, True), dense[1][:, :, 690:])


def test_half_precision_is_handed_over_in_float32():
    model = small_decoder("Llama").to(torch.bfloat16)
    seen, output = received(model)
    assert seen[0][0].dtype == torch.float32 and output.dtype == torch.bfloat16


WINDOW = {"sliding_window": 16, "use_sliding_window": True, "max_window_layers": 1}


@pytest.mark.parametrize(
    ("name", "changes", "why"),
    [
        ("Mistral", {"sliding_window": 16}, "sliding window of 16"),
        ("Qwen2", WINDOW, "sliding"),
        ("Gemma2", {"head_dim": 8}, "caps its scores"),
        ("GptOss", {"num_local_experts": 2, "num_experts_per_tok": 1}, "learned sinks"),
        ("Bloom", {"n_head": 4, "n_layer": 3}, "position biases"),
        ("Mamba", {}, "without softmax attention"),
        ("Mpt", {"n_heads": 4, "n_layers": 3}, "position biases"),
        ("T5", {}, "position biases"),
        ("DeepseekV3", {}, "one latent vector"),
    ],
)
def test_another_formula_is_refused_by_its_config(name, changes, why):
    """As transformers fills it in, and as config.json has it."""
    config = getattr(transformers, f"{name}Config")(**DECODERS.get(name, GROUPED) | changes)
    assert why in refusal(config.to_dict())


@pytest.mark.parametrize("kind", ["BigBird", "MPNet"])
def test_a_model_that_never_calls_the_probe_is_refused_even_if_nobody_named_it(kind, monkeypatch):
    model = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**SIZES)).eval()
    with (
        pytest.raises(ValueError, match=f"{kind}Model: .*(does not follow|adds position biases)"),
        probed(model, print),
    ):
        pass
    monkeypatch.setattr("attnlimit.attention.probe.refusal", lambda config: None)
    with pytest.raises(ValueError, match=f"{kind}Model: does not follow"), probed(model, print):
        model(input_ids=IDS[:1, :64])


@pytest.mark.parametrize(
    ("name", "changes", "why"),
    [
        ("Mistral", {"sliding_window": 16}, "layer 0: reads keys in a sliding window"),
        ("Gemma2", {"head_dim": 8}, "layer 0: caps its scores"),
        ("GptOss", {"num_local_experts": 2, "num_experts_per_tok": 1, "head_dim": 8}, "layer 0: .*(window|sinks)"),
    ],
)
def test_another_formula_is_refused_by_what_it_hands_on(name, changes, why, monkeypatch):
    monkeypatch.setattr("attnlimit.attention.probe.refusal", lambda config: None)
    model = small_decoder(name, **changes)
    with pytest.raises(ValueError, match=why), probed(model, lambda *given: None):
        model(input_ids=IDS)


def test_attention_that_the_formula_misses_is_refused(monkeypatch):
    """A model whose own attention differs and says nothing of it: here the probe's scores are wrong instead."""
    model = small_decoder("Llama")
    monkeypatch.setattr(
        "attnlimit.attention.probe.attend", lambda q, k, v, scaling, causal: attend(q, k, v, scaling / 9, causal)
    )
    with pytest.raises(ValueError, match="LlamaForCausalLM: plain attention misses the model's own output"):
        require_same_output(model, IDS)


def test_padding_dropout_and_numbers_that_are_none_are_refused():
    model = small_decoder("Llama", attention_dropout=0.5)
    mask = torch.ones_like(IDS)
    with torch.no_grad(), probed(model, lambda *given: None):
        model(input_ids=IDS, attention_mask=mask)
        with pytest.raises(ValueError, match="without padding"):
            model(input_ids=IDS, attention_mask=mask.index_fill(1, torch.tensor([0]), 0))
    with pytest.raises(ValueError, match=r"model.eval\(\)"), probed(model.train(), lambda *given: None):
        model(input_ids=IDS)
    model.eval().model.layers[1].self_attn.k_proj.weight.data[0, 0] = torch.nan
    with pytest.raises(ValueError, match="layer 1: keys hold NaN"), probed(model, lambda *given: None):
        model(input_ids=IDS)


def test_the_families_of_encoders_are_not_refused_but_bigbird():
    found = {family: refusal(config.to_dict()) for family, (_, config, _) in CHECKPOINTS.items()}
    assert [family for family, why in found.items() if why] == ["big_bird"]


def test_a_model_of_an_older_transformers_is_told_with_the_version_it_needs():
    with pytest.raises(ImportError, match="object: .*transformers 4.54 or later"), probed(object(), print):
        pass
