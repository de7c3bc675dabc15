"""Attention on tokens of one's own: arrays in, a labelled dataset out. For notebooks; no rule imports it."""

from collections.abc import Iterable
from operator import index

import numpy as np
import torch
import xarray as xr
from numpy.typing import ArrayLike

from attnlimit.attention.kernel import Heads, choose_device, nested_moments, output_shift, project, require_finite

DTYPES, DEVICES = ("float32", "float64"), ("auto", "cpu", "cuda")


def attention_moments(
    tokens: ArrayLike, heads: Heads, sizes: Iterable[int], dtype: str = "float32", device: str = "auto"
) -> xr.Dataset:
    """Mean and covariance of self-attention on the first n tokens, for each n of sizes, in one pass.

    With x_1 … x_n the first n of tokens (token, feature), and for each head
    y_i = sum_j w_ij (W_v x_j + b_v),  w_i = softmax_j(<W_q x_i + b_q, W_k x_j> / sqrt(width)),  i, j = 1 … n:
    output_mean (n, head, feature) is the mean of the y_i, output_covariance (n, head, feature, feature_2) their
    population covariance (1/n).  All sizes together cost as much as the largest one, n^2.

    dtype is that of the scores, `float32` or `float64`; sums and results are float64. device is `auto` (a CUDA GPU
    where there is one), `cpu` or `cuda`. To make heads from arrays: `heads_from_arrays`.
    """
    require_one_of("dtype", dtype, DTYPES)
    require_one_of("device", device, DEVICES)
    tokens, heads = as_floats("tokens", tokens), Heads(*map(as_floats, Heads._fields, heads))
    require_shapes(tokens, heads)
    sizes = increasing(sizes, len(tokens))

    sample, place = tokens[: sizes[-1]], choose_device(device)
    centre = sample.mean(0)  # (feature,): float32 is exact for small numbers only, see project_keys
    every = list(nested_moments(project(sample, heads, centre, place, dtype), sizes))

    count, width = heads.query_bias.shape
    means = np.stack([moments.mean + output_shift(heads, centre) for moments in every])  # (n, head * width)
    blocks = [moments.covariance.reshape(count, width, count, width) for moments in every]
    own = [np.einsum("hfhg->hfg", block) for block in blocks]  # of each head with itself
    says = {"long_name": "mean of the attention outputs"}, {"long_name": "covariance of the attention outputs"}
    return xr.Dataset(
        {
            "output_mean": (("n", "head", "feature"), means.reshape(-1, count, width), says[0]),
            "output_covariance": (("n", "head", "feature", "feature_2"), np.stack(own), says[1]),
        },
        coords={
            "n": ("n", sizes, {"long_name": "number of tokens"}),
            "head": ("head", range(count), {"long_name": "attention head"}),
        },
        attrs={"dtype": dtype, "device": place},
    )


def attention_limit(tokens: ArrayLike, heads: Heads, dtype: str = "float32", device: str = "auto") -> xr.Dataset:
    """The same moments with all tokens as the population, without n.

    Samples drawn from the tokens with replacement have exactly these as their limit.
    """
    tokens = as_floats("tokens", tokens)
    return attention_moments(tokens, heads, tokens.shape[:1], dtype, device).isel(n=0, drop=True)


def heads_from_arrays(
    query_weight: ArrayLike,
    key_weight: ArrayLike,
    value_weight: ArrayLike,
    query_bias: ArrayLike | None = None,
    value_bias: ArrayLike | None = None,
    heads: int = 1,
) -> Heads:
    """Heads of one layer from the weights (head * width, feature) and biases (head * width,) of a torch Linear.

    Rows of the weights are cut into that many heads of equal width. A bias left out is zero. A key bias is not asked
    for: it adds one number to all scores of a query, which the softmax forgets.
    """
    weights = {"query_weight": query_weight, "key_weight": key_weight, "value_weight": value_weight}
    biases = {"query_bias": query_bias, "value_bias": value_bias}
    parts: dict[str, np.ndarray] = {}
    for name, given in weights.items():
        weight = as_floats(name, given)
        if weight.ndim != 2 or heads < 1 or len(weight) % heads:
            raise ValueError(f"{name}: shape {weight.shape}; needed: (rows, feature), rows a multiple of heads={heads}")
        parts[name] = weight.reshape(heads, -1, weight.shape[1])
    rows = parts["query_weight"][..., 0].size
    for name, bias_given in biases.items():
        bias = np.zeros(rows) if bias_given is None else as_floats(name, bias_given)
        if bias.shape != (rows,):
            raise ValueError(f"{name}: shape {bias.shape}; needed: ({rows},), one for each row of the weight")
        parts[name] = bias.reshape(heads, -1)
    return Heads(**parts)


def as_floats(name: str, array: ArrayLike) -> np.ndarray:
    """A numpy or torch array of any device and precision as float64; NaN and infinite entries are refused."""
    if isinstance(array, torch.Tensor):
        array = array.detach().cpu()
        array = array.double().numpy() if array.is_floating_point() else array.numpy()
    array = np.asarray(array)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name}: real numbers are needed, not {array.dtype}")
    require_finite(name, array)
    return array.astype(np.float64, copy=False)


def require_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}: {value!r}; one of {', '.join(known)}")


def require_shapes(tokens: np.ndarray, heads: Heads) -> None:
    """One feature dimension for tokens and weights, one width for all three weights and both biases."""
    if tokens.ndim != 2 or not tokens.size:
        raise ValueError(f"tokens: shape {tokens.shape}; needed: (token, feature), none of them 0")
    shape = heads.query_weight.shape
    if len(shape) != 3 or shape[-1] != tokens.shape[1] or 0 in shape:
        raise ValueError(f"query_weight: shape {shape}; needed: (head, width, feature={tokens.shape[1]}) as in tokens")
    for name, array in heads._asdict().items():
        needed = shape if name.endswith("weight") else shape[:2]
        if array.shape != needed:
            raise ValueError(f"{name}: shape {array.shape}; needed: {needed}, to go with query_weight {shape}")


def increasing(sizes: Iterable[int], tokens: int) -> list[int]:
    """Sizes as plain integers, each larger than the one before, all within the tokens."""
    try:
        sizes = [index(size) for size in sizes]
    except TypeError:
        raise ValueError(f"sizes: {sizes!r}; needed: a list of whole numbers, such as [64, 256]") from None
    if not sizes or sizes[0] < 1 or any(large <= small for small, large in zip(sizes, sizes[1:], strict=False)):
        raise ValueError(f"sizes: {sizes}; needed: at least one, each larger than the one before, from 1 on")
    if sizes[-1] > tokens:
        raise ValueError(f"sizes: {sizes[-1]} is more than the {tokens} tokens given")
    return sizes
