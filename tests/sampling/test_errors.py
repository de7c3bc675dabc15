import numpy as np
import pytest

from attnlimit.sampling.errors import (
    distances,
    group_gram,
    limit_scale,
    replicate_errors,
    sampling_error,
    spectral_norm,
)
from attnlimit.theory.moments import moments


def test_distances_by_hand():
    """Two heads of width 2: the layer also counts the block between them."""
    mean = np.array([3.0, 4.0, 0.0, 12.0])
    covariance = np.zeros((4, 4))
    covariance[:2, :2] = [[0, 2], [2, 0]]
    covariance[2:, 2:] = [[-5, 0], [0, 1]]
    covariance[0, 2] = covariance[2, 0] = 3
    found = distances(mean, covariance, heads=2)
    np.testing.assert_allclose(found["mean"], [5, 12, 13])
    np.testing.assert_allclose(found["cov"], [np.sqrt(8), np.sqrt(26), np.sqrt(52)])
    np.testing.assert_allclose(found["cov_spectral"][:2], [2, 5])
    np.testing.assert_allclose(found["cov_spectral"][2], np.linalg.norm(covariance, 2))


@pytest.mark.parametrize("sign", [1, -1])
def test_lanczos_finds_the_spectral_norm_of_a_large_matrix(sign):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(300, 300))
    matrix = sign * (matrix + matrix.T + 30 * np.eye(300))
    assert spectral_norm(matrix) == pytest.approx(np.linalg.norm(matrix, 2), rel=1e-10)


@pytest.mark.parametrize("diagonal", [0.0, 1.0])
def test_the_spectral_norm_where_lanczos_cannot_leave_its_start(diagonal):
    """Ones are an eigenvector of eigenvalue 0 or 1, and orthogonal to that of 200 or 201; no matrix at all has 0."""
    signs = np.tile([1.0, -1.0], 100)
    assert spectral_norm(np.outer(signs, signs) + diagonal * np.eye(200)) == pytest.approx(200 + diagonal)
    assert spectral_norm(diagonal * np.eye(200)) == diagonal


def test_measure_keeps_norms_and_group_means():
    rng = np.random.default_rng(1)
    limit_mean, limit_covariance = rng.normal(size=4), np.eye(4)
    samples = [[moments(rng.normal(size=(size, 4))) for size in (10, 20)] for _ in range(6)]
    found = replicate_errors(samples, limit_mean, limit_covariance, heads=2, group=3)
    assert found["error"].shape == (3, 3, 6, 2)  # (statistic, head + 1, replicate, n)
    differences = np.array([[sample.mean - limit_mean for sample in replicate] for replicate in samples])
    np.testing.assert_allclose(found["error"][0, -1], np.linalg.norm(differences, axis=-1))
    np.testing.assert_allclose(found["error"][0, 1], np.linalg.norm(differences[..., 2:], axis=-1))
    np.testing.assert_allclose(found["mean_difference"], differences.reshape(2, 3, 2, 4).mean(1))
    covariances = np.array([[sample.covariance - limit_covariance for sample in replicate] for replicate in samples])
    np.testing.assert_allclose(found["error"][1, -1], np.linalg.norm(covariances, axis=(-2, -1)))
    np.testing.assert_allclose(found["error"][2, 0], np.linalg.norm(covariances[..., :2, :2], 2, axis=(-2, -1)))
    np.testing.assert_allclose(
        found["cov_difference"], covariances.reshape(2, 3, 2, 4, 4).mean(1), rtol=1e-6, atol=1e-7
    )


def test_gram_gives_the_norm_of_the_mean_difference():
    differences = np.random.default_rng(2).normal(size=(5, 3, 4, 4))
    gram = group_gram(differences, heads=2)
    assert gram.shape == (3, 3, 5, 5)
    mean = differences.mean(0)  # (n, feature, feature)
    np.testing.assert_allclose(gram[-1].mean((1, 2)), (mean**2).sum((1, 2)))
    np.testing.assert_allclose(gram[1].mean((1, 2)), (mean[:, 2:, 2:] ** 2).sum((1, 2)))


def test_a_mean_is_relative_to_one_value_and_a_covariance_to_its_limit():
    covariance = np.diag([3.0, 4.0, 0.0, 12.0])
    found = limit_scale(np.array([9.0, 16.0]), covariance, heads=2)
    np.testing.assert_allclose(found, [[3, 4, 5], [5, 12, 13], [4, 12, 12]])  # (statistic, head + 1)


def test_standard_error_of_a_subsampled_limit():
    """Half of 2000 rows, drawn 4000 times: the rms distance to the whole is the standard error."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(2000, 2)) * [1, 3] + rng.exponential(size=(2000, 1))
    whole = moments(rows)
    samples = [moments(rows[rng.choice(2000, 1000, replace=False)]) for _ in range(4000)]
    mean_rms = np.sqrt(np.mean([((sample.mean - whole.mean) ** 2).sum() for sample in samples]))
    cov_rms = np.sqrt(np.mean([((sample.covariance - whole.covariance) ** 2).sum() for sample in samples]))
    fourth = (((rows[:1000] - rows[:1000].mean(0)) ** 2).sum(1) ** 2).sum()
    mean_se, cov_se = sampling_error(moments(rows[:1000]), np.array([fourth, fourth]), 1000, 2000)
    assert mean_se[-1] == pytest.approx(mean_rms, rel=0.1)
    assert cov_se[-1] == pytest.approx(cov_rms, rel=0.1)
    assert sampling_error(whole, np.array([fourth, fourth]), 2000, 2000)[0].max() == 0


def test_standard_error_from_blocks_of_one_query():
    """Summed about the means of such blocks the fourth moment is 0; it is at least the square of the variance."""
    rows = np.random.default_rng(6).normal(size=(50, 3))
    trace, square = np.trace(moments(rows).covariance), (moments(rows).covariance ** 2).sum()
    _, cov_se = sampling_error(moments(rows), np.zeros(2), 50, 10**9)
    np.testing.assert_allclose(cov_se, np.sqrt((trace**2 - square) / 50), rtol=1e-6)
    for values in ([[1.0], [-1.0]], [[0.1, 0.3, 0.7], [0.2, -0.4, 0.9]]):  # all at one distance from their mean
        assert (sampling_error(moments(np.array(values)), np.zeros(2), 2, 10)[1] < 1e-6).all()
