"""Keys, sizes and scores with which attention makes no sense are refused by name: some of them crash the process."""

import re

import numpy as np
import pytest
import torch

from attnlimit.attention.kernel import (
    Projected,
    Segment,
    attend,
    limit_states,
    nested_moments,
    output_moments,
    project,
)
from attnlimit.sampling.errors import DENSE_UP_TO, spectral_norm
from support import dense


def tokens(scale: float = 1.0, dtype: torch.dtype = torch.float32, count: int = 10) -> Projected:
    """Tokens of two heads, queries and keys of this size."""
    stream = torch.Generator().manual_seed(0)
    queries, keys, values = (torch.randn(2, count, 8, dtype=dtype, generator=stream) for _ in range(3))
    return Projected(scale * queries, scale * keys, values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_segment_without_keys_is_refused(dtype):
    sample = tokens(dtype=dtype)
    with pytest.raises(ValueError, match="attention: no keys to attend to; "):
        attend(sample.queries, Segment(sample.keys[:, :0], sample.values[:, :0]))


@pytest.mark.parametrize("sizes", [[4, 4], [8, 4], [0, 4], [-1, 4], [4, 11]])
def test_sizes_that_do_not_grow_within_the_sample_are_refused(sizes):
    with pytest.raises(ValueError, match=re.escape(f"sizes {sizes}: must grow, from 1 up to the 10 tokens")):
        list(nested_moments(tokens(), sizes))
    assert [moments.count for moments in nested_moments(tokens(), [1, 4, 10])] == [1, 4, 10]


@pytest.mark.parametrize("keys", [2, 40])
@pytest.mark.parametrize("part", ["query_weight", "key_weight", "query_bias"])
def test_projections_whose_scores_would_overflow_are_refused(keys, part):
    """Few keys are the worst: their attention comes out as 0. In float64 these are numbers like others."""
    rng = np.random.default_rng(0)
    heads, population = dense.random_heads(rng, heads=2, width=4, feature=8, scale=1), rng.normal(size=(keys, 8))
    large = heads._replace(**{part: 1e19 * getattr(heads, part)})
    with pytest.raises(ValueError, match="(query|key)_weight: its product .* overflows float32.*; set dtype: float64"):
        project(population, large, np.zeros(8), "cpu", "float32")
    sample = project(population, large, np.zeros(8), "cpu", "float64")
    (moments,) = nested_moments(sample, [keys])
    assert np.isfinite(moments.covariance).all()


def test_scores_beyond_float32_are_refused():
    """Products of 1e20 with 1e20."""
    sample = tokens(scale=1e20, count=40)
    segment = Segment(sample.keys, sample.values)
    with pytest.raises(ValueError, match="attention: scores overflow torch.float32; set dtype: float64"):
        attend(sample.queries, segment)
    with pytest.raises(ValueError, match="scores overflow"):
        list(nested_moments(sample, [20, 40]))
    with pytest.raises(ValueError, match="scores overflow"):
        limit_states([sample.queries], [segment])
    queries, keys, values = (part.double() for part in sample)
    assert torch.isfinite(attend(queries, Segment(keys, values)).output).all()


def test_outputs_whose_squares_are_beyond_float32_are_refused():
    output = 1e20 * tokens().values
    with pytest.raises(
        ValueError, match="attention: squares of the outputs overflow torch.float32; set dtype: float64"
    ):
        output_moments(output)
    assert np.isfinite(output_moments(output.double()).covariance).all()


@pytest.mark.parametrize("features", [4, DENSE_UP_TO + 1])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_covariance_that_is_not_finite_has_no_spectral_norm(features, number):
    matrix = np.eye(features)
    matrix[1, 1] = number
    with pytest.raises(ValueError, match="covariance: holds NaN or infinite values"):
        spectral_norm(matrix)
