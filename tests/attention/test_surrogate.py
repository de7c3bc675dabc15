"""The surrogate: exact where attention is quadratic, its features counted, its residuals weighed by hand."""

import numpy as np
import pytest
import torch

from attnlimit.attention.kernel import Segment, attend
from attnlimit.attention.regressors import FOLDS, feature_count, few_keys, product_directions
from attnlimit.attention.surrogate import (
    Surrogate,
    all_features,
    averaged,
    basis_of,
    cluster_weights,
    clustered,
    correction_of,
    fit_spread,
    fit_surrogate,
    predict,
    ridge,
    rows_of,
)

RNG = np.random.default_rng(0)


def normal(*shape):
    return torch.as_tensor(RNG.normal(size=shape))


@pytest.mark.parametrize(
    ("queries", "width", "directions"), [(8192, 32, 32), (8192, 64, 46), (4096, 32, 32), (100, 32, 0)]
)
def test_products_are_as_many_as_the_queries_bear(queries, width, directions):
    assert product_directions(queries, width) == directions
    bearable = (queries - queries // FOLDS) / 3
    assert directions == 0 or feature_count(queries, width, directions) <= bearable
    assert directions == width or feature_count(queries, width, directions + 1) > bearable


def test_features_are_one_the_linear_ones_and_products_of_the_leading_coordinates():
    linear = normal(5, 7)  # width 3, one cluster
    features = all_features(linear, directions=2)
    u = linear.T
    expected = torch.stack([torch.ones(5), *u, u[0] * u[0], u[0] * u[1], u[1] * u[1]], dim=1)
    torch.testing.assert_close(features, expected)
    assert features.shape[1] == feature_count(0, 3, 2)


def test_coordinates_are_uncorrelated_and_of_unit_variance_the_leading_first():
    queries = normal(2, 400, 3) * torch.tensor([0.1, 5, 1]) + 7
    basis = basis_of(queries, Segment(normal(2, 4, 3), normal(2, 4, 3)), 3, normal(2, 4, 3), 2)
    coordinates = (queries.numpy() - basis.centre[:, None]) @ basis.rotation
    for head in coordinates:
        np.testing.assert_allclose(np.cov(head.T, bias=True), np.eye(3), atol=1e-10)
    assert (np.abs(basis.rotation[:, 1, 0]) > 0.1).all()  # the second coordinate varies most


def test_a_coordinate_without_variance_does_no_harm():
    queries = normal(1, 50, 2) * torch.tensor([1.0, 0.0])
    basis = basis_of(queries, Segment(normal(1, 3, 2), torch.zeros(1, 3, 2).double()), 2, normal(1, 9, 2), 1)
    assert np.isfinite(basis.rotation).all() and (basis.output_scale == 1).all()


def test_what_is_quadratic_in_the_query_is_found_exactly():
    queries, few = normal(2, 300, 3), Segment(normal(2, few_keys(300), 3), normal(2, few_keys(300), 3))
    outputs = queries**2 @ normal(3, 3) + queries @ normal(3, 3) + 2 + 3 * attend(queries, few).output
    fold = np.arange(300) % FOLDS
    surrogate = fit_surrogate(queries, outputs, fold, basis_of(queries[:, :100], few, 3, normal(2, 60, 3), 5))
    found = predict(surrogate, queries)
    for by_one_fit in found:  # also of the queries it has not seen
        torch.testing.assert_close(by_one_fit, outputs, rtol=1e-5, atol=1e-5)
    correction = correction_of(outputs, found, fold, np.zeros(300, int), np.array([1000]))
    assert (correction.residual_share < 1e-9).all()
    np.testing.assert_allclose(surrogate.shares, 1 / FOLDS)


def test_clusters_of_keys_that_queries_tell_apart():
    """Along the second coordinate the queries do not vary: keys that differ there alone are one cluster."""
    places = torch.tensor([[-5.0, 9.0], [-5.0, -9.0], [5.0, 0.0]]).double()
    keys = places.repeat(20, 1) + 0.01 * normal(60, 2)
    means, log_sizes = clustered(keys, np.diag([1.0, 1e-6]), 2)
    order = np.argsort(means[:, 0])
    np.testing.assert_allclose(means[order], [[-5, 0], [5, 0]], atol=0.1)
    np.testing.assert_allclose(np.exp(log_sizes[order]), [40, 20])
    weights = cluster_weights(torch.tensor([[[0.1, 3.0]]]).double(), means[None, order], log_sizes[None, order])
    np.testing.assert_allclose(weights[0, 0, 1], 20 * np.e**0.5 / (20 * np.e**0.5 + 40 * np.e**-0.5), rtol=0.02)
    assert np.isfinite(clustered(torch.zeros(8, 2).double(), np.eye(2), 3)[1]).all()  # two lose their keys


def test_the_fits_are_their_mean_and_their_spread():
    """sum_f s_f E[g_f g_f^T] = E[h h^T] + the spread, with unequal shares and counts."""
    few = Segment(normal(2, 4, 3), normal(2, 4, 3))
    basis, queries = basis_of(normal(2, 50, 3), few, 1, normal(2, 20, 3), 3), normal(2, 40, 3)
    shares, counts = np.array([0.5, 0.3, 0.2]), torch.as_tensor(RNG.integers(1, 5, size=40).astype(float))
    surrogate = Surrogate(basis, normal(3, 2, 1 + 2 * 3 + 3 + 1, 3), shares)
    apart = [rows_of(each) for each in predict(surrogate, queries)]
    mean = rows_of(predict(averaged(surrogate), queries)[0])
    expected = sum(share * (rows.T * counts.numpy()) @ rows for share, rows in zip(shares, apart, strict=True))
    found = (mean.T * counts.numpy()) @ mean + fit_spread(surrogate, queries, counts)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_ridge_of_pure_noise_keeps_the_level_and_little_else():
    """With nothing to find, cross-validation shrinks the coefficients far below those of least squares."""
    features = np.column_stack([np.ones(60), RNG.normal(size=(60, 40))])
    targets = 5 + RNG.normal(size=(60, 2))
    found, plain = ridge(features, targets), np.linalg.lstsq(features, targets, rcond=None)[0]
    assert np.linalg.norm(found[1:]) < 0.5 * np.linalg.norm(plain[1:])
    np.testing.assert_allclose((features @ found).mean(0), targets.mean(0), rtol=1e-10)


def test_the_correction_by_hand():
    """Two strata of 10 and 6 tokens, 4 of each drawn, two a fold: a fold's residuals count (N_s - 4 + 2) / 2 times."""
    outputs, predicted = normal(1, 8, 2), normal(2, 1, 8, 2)
    fold, stratum, sizes = np.array([0, 1, 1, 0] * 2), np.repeat([0, 1], 4), np.array([10, 6])
    found = correction_of(outputs, predicted, fold, stratum, sizes)
    y, guesses = rows_of(outputs), [rows_of(each) for each in predicted]
    centre = y.mean(0)
    np.testing.assert_allclose(found.reference, centre)
    mean, second = 0, 0
    for judged, guess in enumerate(guesses):
        for i in range(8):
            weight = ((sizes[stratum[i]] - 2) / 2 if fold[i] == judged else 1.0) / 16 / 2
            mean = mean + weight * (y[i] - guess[i])
            second = second + weight * (square(y[i] - centre) - square(guess[i] - centre))
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.second, second)
    own = np.array([guesses[f][i] for i, f in enumerate(fold)])
    products = np.array([square(a - centre) - square(b - centre) for a, b in zip(y, own, strict=True)])
    for stated, residuals in ((found.mean_se, y - own), (found.covariance_se, products)):
        variance = 0
        for s, size in enumerate(sizes):
            within = [np.var(residuals[(fold == f) & (stratum == s)], axis=0, ddof=1).sum() for f in range(2)]
            variance += (size / 16) ** 2 * (1 - 4 / size) / 4 * np.mean(within)
        np.testing.assert_allclose(stated, np.sqrt(variance))


def square(vector):
    return np.outer(vector, vector)
