"""How strongly a head couples the tokens of a population: horizons, and the spread of its values."""

import numpy as np

PUBLISHED_JITTER = 1e-6


def square_root(covariance: np.ndarray) -> np.ndarray:
    """Symmetric square root, by eigenvalues: a singular covariance needs no jitter."""
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def tilt_matrix(query_weight: np.ndarray, key_weight: np.ndarray) -> np.ndarray:
    """A = W_k^T W_q / sqrt(width): the softmax scale belongs to A.  (…, width, feature) -> (…, feature, feature)"""
    return key_weight.swapaxes(-1, -2) @ query_weight / np.sqrt(query_weight.shape[-2])


def horizons(covariance: np.ndarray, tilt: np.ndarray) -> dict[str, float]:
    """Coupling of one head, with S the square root of the tokens' covariance.

    horizon = ||S A S||_2 (two-sided, v3);  horizon_one_sided = ||S A||_2 and psi = ||Sigma||_2 ||S A||_2^2 (v1);
    horizon_frobenius = ||S A S||_F, an indicator of saturation.  horizon^2 <= psi, equal for Sigma = rho I;
    seen_variance: see there.
    """
    root = square_root(covariance)
    two_sided = root @ tilt @ root
    one_sided = np.linalg.norm(root @ tilt, 2)
    return {
        "horizon": float(np.linalg.norm(two_sided, 2)),
        "horizon_one_sided": float(one_sided),
        "psi": float(np.linalg.norm(covariance, 2) * one_sided**2),
        "horizon_frobenius": float(np.linalg.norm(two_sided)),
        "seen_variance": seen_variance(covariance, tilt),
    }


def seen_variance(covariance: np.ndarray, tilt: np.ndarray) -> float:
    """Lambda_A = lambda_max(P Sigma P), P the orthogonal projector onto the image (column space) of A.

    All tilts A x lie there, so that a score <A x, z> sees of a key z only P z: Lambda_A is the largest variance of the
    tokens along a direction that scores see; ||S A||_2^2 <= Lambda_A ||A||_2^2.  The image is spanned by the left
    singular vectors of A whose singular values exceed size eps sigma_max, eps the rounding of A's numbers: those of
    W_k^T W_q in float64 beyond the width of the head lie below that.  0 for A = 0.
    """
    left, values, _ = np.linalg.svd(tilt)
    rank = int((values > len(tilt) * np.finfo(tilt.dtype).eps * values[0]).sum())
    image = left[:, :rank]  # (feature, rank): P = image image^T
    return float(np.linalg.eigvalsh(image.T @ covariance @ image).max(initial=0.0))


def tilt_bias(query_bias: np.ndarray, key_weight: np.ndarray) -> np.ndarray:
    """b = W_k^T b_q / sqrt(width) in the tilt t(x) = A x + b.  (width,), (width, feature) -> (feature,)"""
    return key_weight.T @ query_bias / np.sqrt(len(query_bias))


def constant_tilt(mean: np.ndarray, covariance: np.ndarray, tilt: np.ndarray, bias: np.ndarray) -> float:
    """s0 = |S (A m + b)|: the standard deviation, over keys, of the scores that the mean token gives.

    The horizon measures how the tilt varies over tokens; it does not depend on this constant part.
    """
    return float(np.linalg.norm(square_root(covariance) @ (tilt @ mean + bias)))


def horizon_published(covariance: np.ndarray, query_weight: np.ndarray, key_weight: np.ndarray) -> float:
    """||L^T (sum over heads of W_k^T W_q) L||_2, L = chol(Sigma + 1e-6 I), without 1/sqrt(width).

    The axis of the authors' public code: one number a layer, kept so that their figure can be drawn too.
    """
    factor = np.linalg.cholesky(covariance + PUBLISHED_JITTER * np.eye(len(covariance)))
    coupling = sum(key.T @ query for query, key in zip(query_weight, key_weight, strict=True))
    return float(np.linalg.norm(factor.T @ coupling @ factor, 2))


def value_variance(value_weight: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """tr V Sigma V^T, the spread of a token's value: (…, width, feature) -> (…)."""
    return ((value_weight @ covariance) * value_weight).sum((-2, -1))
