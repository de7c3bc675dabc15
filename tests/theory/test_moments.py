import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlimit.theory.moments import Moments, merge, merge_all, moments


def test_moments_of_a_block():
    rows = np.random.default_rng(0).normal(5, 2, size=(100, 3))
    found = moments(rows)
    np.testing.assert_allclose(found.mean, rows.mean(0), rtol=1e-14)
    np.testing.assert_allclose(found.covariance, np.cov(rows.T, bias=True), rtol=1e-12)


@settings(max_examples=50, deadline=None)
@given(
    cuts=st.sets(st.integers(1, 99), max_size=8), seed=st.integers(0, 2**16), order=st.randoms(use_true_random=False)
)
def test_any_split_merged_in_any_order_is_the_whole(cuts, seed, order):
    rows = np.random.default_rng(seed).normal(1e3, 1, size=(100, 3))
    parts = [moments(part) for part in np.split(rows, sorted(cuts))]
    order.shuffle(parts)
    merged, whole = merge_all(parts), moments(rows)
    assert merged.count == 100
    np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(merged.scatter, whole.scatter, rtol=1e-9, atol=1e-9)


def test_merge_by_hand():
    """{0, 2} and {6}: mean 8/3, sum of squares about it 0 + 4 + 36 - 64/3 = 56/3."""
    one = Moments(2.0, np.array([1.0]), np.array([[2.0]]))
    other = Moments(1.0, np.array([6.0]), np.array([[0.0]]))
    found = merge(one, other)
    np.testing.assert_allclose([found.count, found.mean[0], found.scatter[0, 0]], [3, 8 / 3, 56 / 3])
