"""Couplings of a head from the queries and keys of the tokens alone: cheap enough for every block of a text.

The definitions are those of geometry.py; here they need no matrix of the size of a token.
"""

import numpy as np


def block_couplings(queries: np.ndarray, keys: np.ndarray) -> dict[str, np.ndarray]:
    """Of tokens with these queries and keys (…, token, width), biases included; each coupling is (…).

    See `couplings`.
    """
    mean = queries.mean(-2, dtype=np.float64)  # (…, width)
    return couplings(mean, covariance(queries), covariance(keys), queries.shape[-1])


def couplings(
    mean: np.ndarray, query_covariance: np.ndarray, key_covariance: np.ndarray, width: float
) -> dict[str, np.ndarray]:
    """Of the mean query (…, width) and the covariances C_q and C_k of queries and keys over tokens, (…, width, width).

    horizon = ||C_q^1/2 C_k^1/2||_2 / sqrt(width) = sqrt(lambda_max(C_q C_k) / width): with S the square root of the
    tokens' covariance it is ||S A S||_2, since A = W_k^T W_q / sqrt(width), C_q = W_q S S W_q^T;
    horizon_frobenius = ||S A S||_F = sqrt(tr C_q C_k / width);
    constant_tilt = |S (A m + b)| = sqrt(<q, C_k q> / width), q the mean query.
    Where positions rotate queries and keys there is no single A, and these are the definitions. width: 1 / scaling^2 of
    the scores.
    """
    product = query_covariance @ key_covariance
    largest = np.linalg.eigvals(product).real.max(-1)  # of a product of two covariances all are real, and none negative
    constant = np.einsum("...i,...ij,...j->...", mean, key_covariance, mean)
    squares = {
        "horizon": largest,
        "horizon_frobenius": np.trace(product, axis1=-2, axis2=-1),
        "constant_tilt": constant,
    }
    return {name: np.sqrt(square.clip(0) / width) for name, square in squares.items()}


def covariance(vectors: np.ndarray) -> np.ndarray:
    """Over the tokens, which are all there are: (…, token, width) -> (…, width, width)."""
    centred = vectors - vectors.mean(-2, keepdims=True, dtype=np.float64)
    return centred.swapaxes(-1, -2) @ centred / vectors.shape[-2]
