"""The kernel equals the dense float64 formula, whatever the cut into segments, blocks and sizes."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlimit.attention import kernel as kernel_module
from attnlimit.attention.kernel import (
    Segment,
    absorb,
    attend,
    attend_plain,
    choose_device,
    counts_as_coordinate,
    fourth_moment,
    limit_states,
    nested_moments,
    output_moments,
    output_shift,
    project,
)
from attnlimit.theory.moments import merge_all
from support import dense


def kernel_moments(tokens, heads, sizes, dtype="float64", centre=None):
    """(mean, covariance) at each size, as measure_errors computes them."""
    centre = tokens.mean(0, dtype=float) if centre is None else centre
    sample = project(tokens, heads, centre, "cpu", dtype)
    return [(found.mean + output_shift(heads, centre), found.covariance) for found in nested_moments(sample, sizes)]


@pytest.mark.parametrize("width", [1, 2, 32, 50, 64, 128])
def test_every_nested_size_equals_dense_attention(width):
    rng = np.random.default_rng(width)
    heads = dense.random_heads(rng, heads=2, width=width, feature=7, scale=0.5)
    tokens = 3 + rng.normal(size=(101, 7))
    sizes = [1, 2, 37, 64, 101]
    for size, (mean, covariance) in zip(sizes, kernel_moments(tokens, heads, sizes), strict=True):
        exact_mean, exact_covariance = dense.moments(tokens[:size], heads)
        np.testing.assert_allclose(mean, exact_mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(covariance, exact_covariance, rtol=1e-11, atol=1e-12)


def test_float32_is_exact_to_2e_6():
    rng = np.random.default_rng(0)
    heads = dense.random_heads(rng, heads=4, width=16, feature=64, scale=0.12)
    tokens = (5 + rng.normal(size=(1000, 64))).astype(np.float32)
    for size, (mean, covariance) in zip(
        (64, 300, 1000), kernel_moments(tokens, heads, [64, 300, 1000], "float32"), strict=True
    ):
        exact_mean, exact_covariance = dense.moments(tokens[:size], heads)
        assert dense.relative(mean, exact_mean) < 2e-6
        assert dense.relative(covariance, exact_covariance) < 2e-6


def test_one_token_is_its_own_limit():
    rng = np.random.default_rng(1)
    heads, token = dense.random_heads(rng), rng.normal(size=(1, 6))
    ((mean, covariance),) = kernel_moments(token, heads, [1], centre=np.zeros(6))
    np.testing.assert_allclose(mean, (heads.value_weight @ token[0] + heads.value_bias).ravel(), rtol=1e-12)
    assert np.abs(covariance).max() < 1e-20


def test_scores_of_ten_thousand_pick_the_largest_key():
    """Attention with huge scores is a maximum: no overflow, no NaN, exact in float64."""
    rng = np.random.default_rng(2)
    heads = dense.random_heads(rng, scale=60.0)
    tokens = rng.normal(size=(50, 6))
    scores = tokens @ heads.query_weight[0].T @ heads.key_weight[0] @ tokens.T / 2
    assert np.abs(scores).max() > 1e4
    ((mean, covariance),) = kernel_moments(tokens, heads, [50])
    exact_mean, exact_covariance = dense.moments(tokens, heads)
    assert dense.relative(mean, exact_mean) < 1e-9
    assert dense.relative(covariance, exact_covariance) < 1e-9


def test_counted_atoms_equal_repeated_tokens():
    """A key of count c is c equal keys, a query of count c is c equal rows."""
    rng = np.random.default_rng(3)
    heads, atoms, counts = dense.random_heads(rng), rng.normal(size=(40, 6)), rng.integers(1, 9, size=40)
    exact_mean, exact_covariance = dense.moments(np.repeat(atoms, counts, axis=0), heads)
    found = atom_limit(atoms, counts, heads, blocks=[slice(0, 40)])
    np.testing.assert_allclose(found.mean, exact_mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, exact_covariance, rtol=1e-10, atol=1e-13)


def atom_limit(tokens, counts, heads, blocks):
    """The limit as compute_limits and merge_limits find it, with the given blocks of queries and keys."""
    centre = tokens.mean(0)
    projected = project(tokens, heads, centre, "cpu", "float64")
    counts = torch.as_tensor(counts)
    queries = [projected.queries[:, block] for block in blocks]
    segments = [
        Segment(projected.keys[:, block], projected.values[:, block], counts[block].double().log()) for block in blocks
    ]
    outputs = [state.output for state in limit_states(queries, segments)]
    found = merge_all(output_moments(output, counts[block]) for output, block in zip(outputs, blocks, strict=True))
    return found._replace(mean=found.mean + output_shift(heads, centre))


@settings(max_examples=25, deadline=None)
@given(cuts=st.sets(st.integers(1, 59), max_size=6), seed=st.integers(0, 2**16))
def test_blocks_do_not_change_the_limit(cuts, seed):
    rng = np.random.default_rng(seed)
    heads, tokens, counts = dense.random_heads(rng), rng.normal(size=(60, 6)), np.ones(60)
    edges = [0, *sorted(cuts), 60]
    blocks = [slice(start, stop) for start, stop in zip(edges, edges[1:], strict=False)]
    found, exact = atom_limit(tokens, counts, heads, blocks), dense.moments(tokens, heads)
    np.testing.assert_allclose(found.mean, exact[0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.covariance, exact[1], rtol=1e-9, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**16), shift=st.floats(-50, 50))
def test_order_of_keys_and_a_constant_in_all_scores_change_nothing(seed, shift):
    rng = np.random.default_rng(seed)
    queries, keys, values = (torch.as_tensor(rng.normal(size=(2, 30, 5))) for _ in range(3))
    order = torch.as_tensor(rng.permutation(30))
    plain = attend(queries, Segment(keys, values))
    mixed = attend(queries, Segment(keys[:, order], values[:, order], torch.full((30,), shift, dtype=torch.float64)))
    torch.testing.assert_close(plain.output, mixed.output, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(plain.total + shift, mixed.total, rtol=1e-10, atol=1e-10)


def test_absorbing_a_segment_that_dominates_by_e_to_the_1000():
    """The old output is forgotten, not turned into NaN."""
    rng = np.random.default_rng(4)
    queries, keys, values = (torch.as_tensor(rng.normal(size=(1, 8, 3))) for _ in range(3))
    far = Segment(keys, values + 1, torch.full((8,), 1000.0, dtype=torch.float64))
    state = absorb(absorb(None, queries, Segment(keys, values)), queries, far)
    torch.testing.assert_close(state.output, attend(queries, far).output)


@pytest.mark.parametrize("broken", ["tokens", "query_weight", "key_weight", "value_weight", "query_bias", "value_bias"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_nan_is_refused_by_name(broken, value):
    rng = np.random.default_rng(5)
    heads, tokens = dense.random_heads(rng), rng.normal(size=(10, 6))
    (tokens if broken == "tokens" else getattr(heads, broken)).flat[3] = value
    with pytest.raises(ValueError, match=broken):
        project(tokens, heads, np.zeros(6), "cpu", "float32")


def test_moments_of_far_away_outputs_do_not_cancel():
    """Spread of 1 around a mean of 1e4, in float32: E[yy'] - mm' would lose everything."""
    rows = torch.as_tensor(1e4 + np.random.default_rng(6).normal(size=(1, 5000, 4)), dtype=torch.float32)
    exact = rows[0].double().numpy()
    found = output_moments(rows)
    np.testing.assert_allclose(found.covariance, np.cov(exact.T, bias=True), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.mean, exact.mean(0), rtol=1e-12)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("panel", [1, 5, 11, 12, 128])
def test_panels_of_the_scatter_change_nothing(monkeypatch, panel, counted):
    """Also where the last one is narrow; symmetric to the last bit."""
    monkeypatch.setattr(kernel_module, "PANEL", panel)
    rng = np.random.default_rng(12)
    output, counts = torch.as_tensor(rng.normal(size=(3, 2000, 4))), rng.integers(1, 4, size=2000)
    found = output_moments(output, torch.as_tensor(counts) if counted else None)
    rows = output.transpose(0, 1).flatten(1).numpy()
    exact = np.cov(rows.T, bias=True, fweights=counts if counted else None)
    np.testing.assert_allclose(found.covariance, exact, rtol=1e-12, atol=1e-14)
    assert (found.scatter == found.scatter.T).all()


def test_a_single_feature_that_overflows_is_refused():
    """Wherever it stands: a square is on the diagonal, which is looked at."""
    for feature in range(8):
        output = torch.ones(2, 10, 4)
        output[feature // 4, 0, feature % 4] = 1e20
        with pytest.raises(ValueError, match="squares of the outputs overflow"):
            output_moments(output)


def test_auto_device_is_one_that_torch_has():
    assert choose_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    assert choose_device("cpu") == "cpu"


def segment_with_counts(rng):
    queries, keys, values = (torch.as_tensor(rng.normal(size=(2, 30, 5))) for _ in range(3))
    return queries, Segment(keys, values, torch.as_tensor(rng.integers(1, 9, size=30)).double().log())


@pytest.mark.parametrize("budget", [1, 10**4, 2**28])
def test_plain_attention_equals_fused(monkeypatch, budget):
    """Also when the memory allows only one query at a time."""
    monkeypatch.setattr(kernel_module, "PLAIN_BYTES", budget)
    queries, segment = segment_with_counts(np.random.default_rng(7))
    for one in (segment, Segment(segment.keys, segment.values)):
        plain, fused = attend_plain(queries, one), attend(queries, one)
        torch.testing.assert_close(plain.output, fused.output, rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(plain.total, fused.total, rtol=1e-12, atol=1e-13)


def test_counts_as_a_coordinate_equal_counts_as_a_mask():
    queries, segment = segment_with_counts(np.random.default_rng(8))
    widened = counts_as_coordinate(queries, segment)
    found = attend(widened[0], Segment(*widened[1:]))
    expected = attend(queries, segment)
    torch.testing.assert_close(found.output[..., :5], expected.output, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(found.total, expected.total, rtol=1e-12, atol=1e-13)


def test_out_of_memory_halves_the_queries(monkeypatch):
    """A kernel that can take four queries at most still serves thirty."""
    queries, segment = segment_with_counts(np.random.default_rng(9))
    expected, kernel = attend(queries, segment), kernel_module.FUSED["cpu", torch.float64]

    def small(queries, segment):
        if queries.shape[1] > 4:
            raise torch.OutOfMemoryError("no room")
        return kernel(queries, segment)

    monkeypatch.setitem(kernel_module.FUSED, ("cpu", torch.float64), small)
    found = attend(queries, segment)
    torch.testing.assert_close(found.output, expected.output, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(found.total, expected.total, rtol=1e-12, atol=1e-13)


def test_fourth_moment_counts_each_row():
    output = torch.as_tensor([[[1.0], [3.0]], [[0.0], [4.0]]])  # (head, query, width)
    found = fourth_moment(output, torch.as_tensor([3, 1]), np.array([1.5, 1.0]))
    np.testing.assert_allclose(found, [3 * 0.5**4 + 1.5**4, 3 + 3**4, 3 * 1.25**2 + (2.25 + 9) ** 2])


def test_gaussian_tokens_in_float32():
    rng = np.random.default_rng(10)
    heads = dense.random_heads(rng, heads=1, width=50, feature=50, scale=0.15)
    tokens = rng.normal(size=(2000, 50)).astype(np.float32)
    sizes = [200, 2000]
    for size, (mean, covariance) in zip(sizes, kernel_moments(tokens, heads, sizes, "float32"), strict=True):
        exact_mean, exact_covariance = dense.moments(tokens[:size], heads)
        assert dense.relative(mean, exact_mean) < 2e-6
        assert dense.relative(covariance, exact_covariance) < 2e-6


def test_scores_of_ten_thousand_in_float32_lose_digits_but_no_token():
    """A score of 1e4 is rounded to 1e-3 in float32, and so are the weights, not more."""
    rng = np.random.default_rng(11)
    heads, tokens = dense.random_heads(rng, scale=60.0), rng.normal(size=(50, 6))
    ((mean, covariance),) = kernel_moments(tokens, heads, [50], "float32")
    exact_mean, exact_covariance = dense.moments(tokens, heads)
    assert dense.relative(mean, exact_mean) < 1e-3
    assert dense.relative(covariance, exact_covariance) < 1e-3


def test_tokens_of_another_model_are_refused():
    rng = np.random.default_rng(0)
    heads = dense.random_heads(rng, heads=2, width=4, feature=7, scale=0.5)
    with pytest.raises(ValueError, match=r"^query_weight: for 7 features, but the tokens have 6: .*delete.*run again$"):
        project(rng.normal(size=(5, 6)), heads, np.zeros(6), "cpu", "float64")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("tile", [(1, 1), (4, 7), (16, 3), (64, 64)])
def test_tiles_change_nothing(monkeypatch, tile, dtype):
    """With scores that grow from key to key, so that the largest so far changes in every tile."""
    monkeypatch.setattr(kernel_module, "QUERIES", tile[0])
    monkeypatch.setattr(kernel_module, "KEYS", tile[1])
    queries, segment = segment_with_counts(np.random.default_rng(13))
    segment = segment._replace(keys=segment.keys * torch.arange(1, 31)[:, None])
    tolerance = {"rtol": 1e-12, "atol": 1e-12} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for one in (segment, Segment(segment.keys, segment.values)):
        expected = attend_plain(queries, one)
        found = attend(queries.to(dtype), Segment(*(None if part is None else part.to(dtype) for part in one)))
        torch.testing.assert_close(found.output.double(), expected.output, **tolerance)
        torch.testing.assert_close(found.total.double(), expected.total, **tolerance)


def test_a_large_tile_in_float32_is_as_exact_as_its_scores():
    """Large enough for oneDNN, with values of another width than the keys."""
    rng = np.random.default_rng(14)
    queries, keys, values = (
        torch.as_tensor(rng.normal(size=(1, *shape))) for shape in ((1100, 32), (1300, 32), (1300, 20))
    )
    queries /= 4
    logs = torch.as_tensor(rng.integers(1, 9, size=1300)).double().log()
    expected = attend_plain(queries, Segment(keys, values, logs))
    found = attend(queries.float(), Segment(keys.float(), values.float(), logs.float()))
    assert dense.relative(found.output.double().numpy(), expected.output.numpy()) < 2e-6
    torch.testing.assert_close(found.total.double(), expected.total, rtol=1e-6, atol=2e-6)
