"""The formulas written out in float64 with nothing saved: what the kernel is compared with."""

import numpy as np

from attnlimit.attention.kernel import Heads


def random_heads(rng, heads=3, width=4, feature=6, scale=1.0) -> Heads:
    weights = [scale * rng.normal(size=(heads, width, feature)) for _ in range(3)]
    return Heads(*weights, rng.normal(size=(heads, width)), rng.normal(size=(heads, width)))


def outputs(queries: np.ndarray, tokens: np.ndarray, heads: Heads) -> np.ndarray:
    """Gamma_n(x) = sum_i softmax_i(<W_q x + b_q, W_k X_i> / sqrt(width)) (W_v X_i + b_v), heads side by side."""
    results = []
    for query_weight, key_weight, value_weight, query_bias, value_bias in zip(
        *(a.astype(float) for a in heads), strict=True
    ):
        scores = (
            (queries @ query_weight.T + query_bias) @ (tokens @ key_weight.T).T / np.sqrt(len(query_weight))
        )  # (q, n)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        results.append(weights @ (tokens @ value_weight.T + value_bias))
    return np.concatenate(results, axis=1)  # (q, feature)


def moments(tokens: np.ndarray, heads: Heads) -> tuple[np.ndarray, np.ndarray]:
    """Mean and population covariance of self-attention."""
    transformed = outputs(tokens.astype(float), tokens.astype(float), heads)
    return transformed.mean(0), np.cov(transformed.T, bias=True).reshape(transformed.shape[1], -1)


def relative(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
