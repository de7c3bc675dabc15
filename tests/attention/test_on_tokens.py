"""What a notebook gets is the dense formula, value bias and centre included, and bad input is refused by name."""

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlimit.attention.kernel import Heads
from attnlimit.attention.on_tokens import attention_limit, attention_moments, heads_from_arrays
from support import dense

SHAPES = {"heads": st.integers(1, 4), "width": st.integers(1, 40), "feature": st.integers(1, 40)}


def one_case(seed, heads, width, feature, count):
    """Tokens far from zero, biases too, scores of a few units."""
    rng = np.random.default_rng(seed)
    layer = dense.random_heads(rng, heads, width, feature, scale=feature**-0.5)
    return 4 + rng.normal(size=(count, feature)), layer


def worst(moments: xr.Dataset, tokens: np.ndarray, heads: Heads) -> float:
    """Largest error of a mean or a covariance of any head at any size, relative to the values that are averaged.

    Not to the exact one: a mean may be zero by chance, and the outputs on a few tokens may all be alike.
    """
    errors = []
    for number, (weight, bias) in enumerate(zip(heads.value_weight, heads.value_bias, strict=True)):
        alone = Heads(*(part[number : number + 1] for part in heads))
        values = tokens @ weight.T + bias  # (token, width)
        size_of_values = np.sqrt((values**2).sum(1).mean())
        spread_of_values = np.linalg.norm(np.cov(values.T, bias=True))
        for size in moments["n"].values:
            found = moments.sel(n=size, head=number)
            mean, covariance = dense.moments(tokens[:size], alone)
            errors.append(np.linalg.norm(found["output_mean"].values - mean) / size_of_values)
            errors.append(np.linalg.norm(found["output_covariance"].values - covariance) / spread_of_values)
    return max(errors)


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 150), data=st.data(), **SHAPES)
@settings(max_examples=60)
def test_moments_equal_the_dense_formula(seed, count, data, heads, width, feature):
    tokens, layer = one_case(seed, heads, width, feature, count)
    sizes = sorted(data.draw(st.sets(st.integers(1, count), min_size=1, max_size=5)))
    for dtype, allowed in (("float64", 1e-10), ("float32", 2e-6)):
        moments = attention_moments(tokens, layer, sizes, dtype=dtype, device="cpu")
        assert moments["n"].values.tolist() == sizes
        shape = {"n": len(sizes), "head": heads, "feature": width, "feature_2": width}
        assert dict(moments["output_covariance"].sizes) == shape
        assert worst(moments, tokens, layer) < allowed


def test_float32_is_the_default_and_said():
    tokens, layer = one_case(0, 2, 3, 5, 30)
    moments = attention_moments(tokens, layer, [10, 30], device="cpu")
    xr.testing.assert_identical(moments, attention_moments(tokens, layer, [10, 30], "float32", "cpu"))
    assert moments.attrs == {"dtype": "float32", "device": "cpu"}
    assert all(moments[name].attrs["long_name"] for name in moments.variables)
    for name in moments.data_vars:  # not hidden by a method of xarray, as `mean` would be
        xr.testing.assert_identical(getattr(moments, name), moments[name])


def test_the_limit_is_that_of_samples_with_replacement():
    """A population repeated three times has the same moments: they depend on the law of the tokens only."""
    tokens, layer = one_case(1, 2, 3, 5, 40)
    limit = attention_limit(tokens, layer, dtype="float64")
    assert "n" not in limit.coords
    xr.testing.assert_allclose(limit, attention_limit(np.tile(tokens, (3, 1)), layer, dtype="float64"), rtol=1e-12)
    xr.testing.assert_allclose(
        limit, attention_moments(tokens, layer, [7, 40], dtype="float64").isel(n=-1, drop=True), rtol=1e-10
    )


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16, torch.int64])
def test_torch_arrays_give_what_numpy_arrays_give(kind):
    tokens, layer = one_case(2, 2, 4, 6, 20)
    tensor = torch.as_tensor(tokens).to(kind)
    tensor.requires_grad_(kind.is_floating_point)
    same = tensor.detach().double().numpy()
    given_torch = attention_moments(tensor, Heads(*map(torch.as_tensor, layer)), [5, 20], "float64", "cpu")
    xr.testing.assert_identical(given_torch, attention_moments(same, layer, [5, 20], "float64", "cpu"))
    xr.testing.assert_identical(attention_limit(tensor, layer), attention_limit(same, layer))


def test_the_layer_of_torch_with_its_key_bias_gives_the_same_mean():
    """Against torch's own module, which has one matrix for all heads: rows are cut into heads as torch cuts them."""
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    torch.nn.init.normal_(layer.in_proj_bias)
    with torch.no_grad():
        layer.out_proj.weight.copy_(torch.eye(12))
    tokens = 2 + torch.randn(1, 50, 12, dtype=torch.float64)
    outputs = layer(tokens, tokens, tokens, need_weights=False)[0][0].detach().numpy()  # (token, head * width)
    query_bias, _, value_bias = layer.in_proj_bias.chunk(3)
    heads = heads_from_arrays(*layer.in_proj_weight.chunk(3), query_bias, value_bias, heads=3)
    limit = attention_limit(tokens[0], heads, "float64", "cpu")
    np.testing.assert_allclose(limit["output_mean"].values.ravel(), outputs.mean(0), rtol=1e-10)
    of_one = np.cov(outputs[:, 4:8].T, bias=True)
    np.testing.assert_allclose(limit["output_covariance"].sel(head=1).values, of_one, rtol=1e-9, atol=1e-13)


def test_one_head_without_biases():
    rng = np.random.default_rng(3)
    tokens, weights = rng.normal(size=(30, 5)), rng.normal(size=(3, 2, 5))
    moments = attention_moments(tokens, heads_from_arrays(*weights), [30], "float64", "cpu")
    exact, _ = dense.moments(tokens, Heads(*weights[:, None], np.zeros((1, 2)), np.zeros((1, 2))))
    np.testing.assert_allclose(moments["output_mean"].values[0, 0], exact, rtol=1e-12)


TOKENS, LAYER = one_case(4, 2, 3, 5, 10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens": TOKENS[0]}, r"tokens: shape \(5,\); needed: \(token, feature\)"),
        ({"tokens": TOKENS[:0]}, r"tokens: shape \(0, 5\)"),
        ({"tokens": np.where(TOKENS > 5, np.nan, TOKENS)}, "tokens: holds NaN"),
        ({"tokens": TOKENS.astype(str)}, "tokens: real numbers are needed, not <U"),
        ({"tokens": TOKENS + 1j}, "tokens: real numbers are needed, not complex128"),
        ({"tokens": TOKENS[:, :4]}, r"query_weight: shape \(2, 3, 5\); needed: \(head, width, feature=4\)"),
        ({"tokens": 1e300 * TOKENS}, "overflows float32"),
        ({"heads": LAYER._replace(query_weight=LAYER.query_weight[0])}, r"query_weight: shape \(3, 5\)"),
        ({"heads": LAYER._replace(key_weight=LAYER.key_weight[:1])}, r"key_weight: shape \(1, 3, 5\); needed: \(2, 3"),
        ({"heads": LAYER._replace(value_bias=LAYER.value_bias[:, :2])}, r"value_bias: shape \(2, 2\); needed: \(2, 3"),
        ({"heads": LAYER._replace(value_bias=LAYER.value_bias * np.inf)}, "value_bias: holds NaN or infinite"),
        ({"sizes": []}, r"sizes: \[\]; needed: at least one"),
        ({"sizes": [0, 4]}, r"sizes: \[0, 4\]; needed: .* from 1 on"),
        ({"sizes": [4, 4]}, r"sizes: \[4, 4\]; needed: .* larger than the one before"),
        ({"sizes": [5, 4]}, r"sizes: \[5, 4\]"),
        ({"sizes": [4, 11]}, "sizes: 11 is more than the 10 tokens given"),
        ({"sizes": [2.5]}, r"sizes: \[2.5\]; needed: a list of whole numbers"),
        ({"sizes": 4}, "sizes: 4; needed: a list of whole numbers"),
        ({"dtype": "float16"}, "dtype: 'float16'; one of float32, float64"),
        ({"device": "gpu"}, "device: 'gpu'; one of auto, cpu, cuda"),
    ],
)
def test_bad_input_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        attention_moments(**{"tokens": TOKENS, "heads": LAYER, "sizes": [4, 10], "device": "cpu"} | change)


@pytest.mark.parametrize("tokens", [5.0, TOKENS[:0]])
def test_a_limit_of_no_tokens_is_refused(tokens):
    with pytest.raises(ValueError, match=r"tokens: shape \(.*\); needed: \(token, feature\)"):
        attention_limit(tokens, LAYER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 4}, r"query_weight: shape \(6, 5\); needed: \(rows, feature\), rows a multiple of heads=4"),
        ({"heads": 0}, "heads=0"),
        ({"key_weight": np.ones(5)}, r"key_weight: shape \(5,\)"),
        ({"query_bias": np.ones(5)}, r"query_bias: shape \(5,\); needed: \(6,\)"),
        ({"value_weight": np.full((6, 5), np.nan)}, "value_weight: holds NaN"),
    ],
)
def test_bad_weights_are_refused_by_name(change, message):
    weights = dict.fromkeys(("query_weight", "key_weight", "value_weight"), np.ones((6, 5)))
    with pytest.raises(ValueError, match=message):
        heads_from_arrays(**weights | {"heads": 2} | change)
