"""Couplings of a head from the queries and keys of the tokens alone: cheap enough for every block of a text.

The definitions are those of geometry.py; here they need no matrix of the size of a token.
"""

import numpy as np


def block_couplings(queries: np.ndarray, keys: np.ndarray) -> dict[str, np.ndarray]:
    """Of tokens with these queries and keys (…, token, width), biases included; each coupling is (…).

    With S the square root of the tokens' covariance, C_q and C_k the covariances of queries and keys over the tokens:
    horizon = ||S A S||_2 = sqrt(lambda_max(C_q C_k) / width), since A = W_k^T W_q / sqrt(width), C_q = W_q S S W_q^T;
    horizon_frobenius = ||S A S||_F = sqrt(tr C_q C_k / width);
    constant_tilt = |S (A m + b)| = sqrt(<q, C_k q> / width), q the mean query.
    """
    width = queries.shape[-1]
    mean = queries.mean(-2, dtype=np.float64)  # (…, width)
    product = covariance(queries) @ (keys_covariance := covariance(keys))  # (…, width, width)
    largest = np.linalg.eigvals(product).real.max(-1)  # of a product of two covariances all are real, and none negative
    constant = np.einsum("...i,...ij,...j->...", mean, keys_covariance, mean)
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
