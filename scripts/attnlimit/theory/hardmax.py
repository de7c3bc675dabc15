"""The hardmax in one dimension: what Proposition 5.1 says, and the exact expectation. Nothing here is sampled."""

from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import erfc, erfcinv, erfcx, log_ndtr, roots_legendre, xlog1py

Array = np.ndarray

HALVES_FROM = np.log(1e15)  # ln n from which on the count of positive tokens is n/2, up to 3e-12 of the error
NEWTON_STEPS = 8  # five are enough


def hardmax_proposition(log_n: Any, sigma: float) -> Any:
    """Leading term of E|mean_n| for hardmax attention on N(0, sigma^2): ln(4) sigma / (2 sqrt(2 ln n))."""
    return np.log(4) * sigma / (2 * np.sqrt(2 * log_n))


def hardmax_error(log_n: float, sigma: float) -> float:
    """Exact E|mean_n| as a function of ln n, for n from 2 to 10^(10^9): relative error below 1e-11."""
    if log_n < HALVES_FROM:
        return hardmax_expected_error(float(np.round(np.exp(log_n))), sigma)
    return hardmax_error_of_halves(log_n, sigma)


def hardmax_error_of_halves(log_n: float, sigma: float) -> float:
    """E|M_k - M'_k| / 2 with k = n/2 half-normals on each side: E|mean_n| up to a relative (ln n)^2 / n.

    Two independent maxima with the law F give E|M - M'| = 2 int F (1 - F) dx. With F = e^(-u), v = ln u as variable,

        u = -k ln(1 - q),  q = erfc(x / sqrt 2),  dx/dv = -(y / (e^y - 1)) / h(x),  y = u / k,

    h the hazard rate of the normal, q and x of a v by Newton on ln Phi(-x) = ln(q / 2). Only ln k enters, and nothing
    is subtracted. The trapezoid rule in v, step 1/8, is exact up to rounding.
    """
    step = 0.125
    v = np.arange(-40, 4 + step, step)  # F (1 - F) is below 1e-17 outside
    u, log_y = np.exp(v), v - (log_n - np.log(2))
    y = np.exp(log_y)
    small = y < 1e-9  # q = 1 - e^(-y) is y, where y may be too small for a float
    log_q = np.where(small, log_y, np.log(-np.expm1(-np.where(small, 1, y))))
    x = np.sqrt(-2 * log_q)
    for _ in range(NEWTON_STEPS):
        x += (log_ndtr(-x) - (log_q - np.log(2))) / hazard(x)
    growth = np.where(small, 1, y / np.expm1(np.where(small, 1, y)))
    return float(sigma * step * np.sum(np.exp(-u) * -np.expm1(-u) * growth / hazard(x)))


def hazard(x: Array) -> Array:
    """phi(x) / Phi(-x) of the standard normal, accurate at any x."""
    return np.sqrt(2 / np.pi) / erfcx(x / np.sqrt(2))


def hardmax_expected_error(n: float, sigma: float) -> float:
    """Exact E|mean_n| for hardmax attention on n tokens N(0, sigma^2), d = 1, A > 0; n from 2 to 1e15.

    The k positive tokens all become their maximum, the n - k others become minus theirs, so that
    mean_n = U - W, U = k M_k / n, W = (n - k) M'_{n-k} / n, where M_k is the maximum of k half-normals:
    P(M_k <= x) = erf(x / (sigma sqrt 2))^k. Given k ~ Bin(n, 1/2) the two are independent, and

        E|U - W| = int_0^inf F_U (1 - F_W) + F_W (1 - F_U) dx.

    The sum over k is the Gauss rule of the binomial law (`binomial_rule`), with every k when n < 64.
    Relative error below 1e-12 up to n = 1e12: against 30-digit arithmetic at n = 10, 100, 1e9, 1e12, and against finer
    rules at every power of ten.  800 nodes no longer resolve the maxima of far more tokens: see `hardmax_error`.
    """
    offsets, weights = binomial_rule(n, 64)  # (k,), (k,)
    nodes, node_weights = roots_legendre(800)  # on (-1, 1)
    end = np.sqrt(2) * erfcinv(1e-18 / n)  # no token of n is larger, up to 1e-18
    x = end * (1 + nodes) / 2  # (x,)
    # The shares k/n and 1 - k/n. A share of zero stands for a maximum over nothing, and its limit is right.
    below_u = maximum_cdf(x, n, np.clip(0.5 + offsets / n, 1e-300, 1)[:, None])  # (k, x)
    below_w = maximum_cdf(x, n, np.clip(0.5 - offsets / n, 1e-300, 1)[:, None])  # (k, x)
    integrand = below_u * (1 - below_w) + below_w * (1 - below_u)  # (k, x)
    return float(sigma * end / 2 * (weights @ integrand @ node_weights))


def maximum_cdf(x: Array, n: float, share: Array) -> Array:
    """P(p M <= x) = erf(x / (p sqrt 2))^{p n}, M the maximum of p n standard half-normals, p the share."""
    return np.exp(xlog1py(share * n, -erfc(x / (share * np.sqrt(2)))))


def binomial_rule(n: float, size: int) -> tuple[Array, Array]:
    """Nodes k - n/2 and weights of the Gauss rule with `size` nodes for k ~ Bin(n, 1/2).

    Its Jacobi matrix (Krawtchouk polynomials) has b_j = sqrt(j (n - j + 1)) / 2 and a zero diagonal. With
    n + 1 nodes it is the law itself; with fewer it is exact for polynomials of degree below 2 * size.
    """
    j = np.arange(1, min(n + 1, size))
    nodes, vectors = eigh_tridiagonal(np.zeros(len(j) + 1), np.sqrt(j * (n - j + 1)) / 2)
    return nodes, vectors[0] ** 2
