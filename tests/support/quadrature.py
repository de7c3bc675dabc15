"""Expectations by quadrature: what closed forms are compared with."""

import numpy as np
from scipy.special import roots_hermitenorm


def gaussian_grid(mean, covariance):
    """Nodes and weights of the Gauss-Hermite rule for N(mean, covariance)."""
    nodes, weights = roots_hermitenorm(60)
    d = len(mean)
    grid = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), axis=-1).reshape(-1, d)  # (g, d)
    weight = np.stack(np.meshgrid(*[weights] * d, indexing="ij"), axis=-1).reshape(-1, d).prod(axis=1)  # (g,)
    return mean + grid @ np.linalg.cholesky(covariance).T, weight / weight.sum()


def softmax_mean(tilts, points, weights):
    """E[X e^<t,X>] / E[e^<t,X>] over a weighted set of points: attention with V = 1, by its definition."""
    scores = tilts @ points.T  # (q, g)
    attention = weights * np.exp(scores - scores.max(axis=1, keepdims=True))  # (q, g)
    return attention @ points / attention.sum(axis=1, keepdims=True)  # (q, d)
