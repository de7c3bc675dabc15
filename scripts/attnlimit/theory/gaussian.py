"""Closed-form limits of attention on Gaussian tokens: what they become as n goes to infinity. Nothing is sampled.

Names: the tilt is t(x) = A x + b with the softmax scale inside A; `values` is V, (h, d).
"""

import numpy as np

Array = np.ndarray


def gaussian_map(
    points: Array, mean: Array, covariance: Array, tilt_matrix: Array, tilt_bias: Array, values: Array
) -> Array:
    """Attention map of N(m, Sigma): Gamma(x) = V (m + Sigma t(x)), t(x) = A x + b. One point per row."""
    tilts = points @ tilt_matrix.T + tilt_bias  # (..., d)
    return (mean + tilts @ covariance) @ values.T  # (..., h)


def gaussian_moments(
    mean: Array, covariance: Array, tilt_matrix: Array, tilt_bias: Array, values: Array
) -> tuple[Array, Array]:
    """Moments of Gamma(X), X ~ N(m, Sigma): V (m + Sigma (A m + b)) and V Sigma A Sigma A^T Sigma V^T."""
    slope = values @ covariance @ tilt_matrix  # (h, d), the derivative of the map
    output_mean = gaussian_map(mean, mean, covariance, tilt_matrix, tilt_bias, values)
    return output_mean, slope @ covariance @ slope.T  # (h,), (h, h)


def gaussian_clt(tilt: Array, covariance: Array, values: Array) -> tuple[Array, Array]:
    """Limits of n Var(Gamma_n(x)) and of n (E Gamma_n(x) - Gamma(x)) at a fixed x with tilt t = t(x).

    n variance -> e^{t' Sigma t} V (Sigma + Sigma t t' Sigma) V^T,   n bias -> -e^{t' Sigma t} V Sigma t.

    With the weight e = exp<t, X> and the limit G = m + Sigma t, a ratio of means has n variance
    E[e^2 (X - G)(X - G)'] / E[e]^2 and n bias -E[e^2 (X - G)] / E[e]^2. Under e^2 the tokens are
    N(m + 2 Sigma t, Sigma), hence X - G has mean Sigma t, and E[e^2] / E[e]^2 = e^{t' Sigma t}: the mean m
    of the tokens cancels everywhere, and both limits hold for any m.
    """
    shift = covariance @ tilt  # (d,)
    inflation = np.exp(tilt @ shift)
    variance = inflation * values @ (covariance + np.outer(shift, shift)) @ values.T  # (h, h)
    return variance, -inflation * values @ shift  # (h, h), (h,)
