"""Samples of a layer: errors by the dense formula, whatever of the tokens is held at once."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.attention.draws import draws
from attnlimit.sampling import samples as module
from attnlimit.sampling.samples import Attention, batches, layer_errors
from support import dense

RNG = np.random.default_rng(0)
HEADS = dense.random_heads(RNG, width=2, scale=0.4)
TOKENS = RNG.normal(size=(200, 6))
SIZES = [8, 16, 40]


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("most", [1, 60, 100, 1000])
def test_errors_do_not_depend_on_how_many_tokens_are_held(nested, most, monkeypatch):
    monkeypatch.setattr(module, "TOKENS_AT_ONCE", most)
    mean, covariance = dense.moments(TOKENS, HEADS)
    limit = xr.Dataset({"limit_mean": ("feature", mean), "limit_covariance": (("feature", "feature_2"), covariance)})
    samples = [draws(200, SIZES, nested, True, 7, 1, replicate) for replicate in range(6)]
    attention = Attention(HEADS, TOKENS.mean(0), "cpu", "float64")
    found = layer_errors(samples, lambda numbers: TOKENS[numbers], attention, limit, 2, "errors")
    for replicate, sample in enumerate(samples):
        for rows, sizes in sample:
            for n in sizes:
                exact = np.linalg.norm(dense.moments(TOKENS[rows[:n]], HEADS)[0] - mean)
                error = found["error"].isel(replicate=replicate).sel(statistic="mean", head=-1, n=n)
                assert float(error) == pytest.approx(exact, rel=1e-8)


def test_batches_are_in_order_and_hold_no_more_than_they_may():
    samples = [[(RNG.integers(50, size=20), [20])] for _ in range(9)]
    found = list(batches(samples, 50, 30))
    assert [sample for batch, _ in found for sample in batch] == samples
    for batch, rows in found:
        np.testing.assert_array_equal(rows, np.unique(np.concatenate([each for ((each, _),) in batch])))
        assert len(rows) <= 30
    assert 1 < len(found) < 9
    assert [len(batch) for batch, _ in batches(samples, 50, 1)] == [1] * 9
