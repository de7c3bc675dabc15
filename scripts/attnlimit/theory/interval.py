"""Closed forms of attention on tokens uniform on [-1, 1], A = V = 1: the tilt is the query. Nothing is sampled."""

import numpy as np

from attnlimit.theory.sphere import bessel_ratio

Array = np.ndarray

PANEL_NODES = 16  # of a Gauss rule


def interval_map(tilts: Array) -> Array:
    """Gamma(t) = coth t - 1/t, element by element.

    A coordinate of a uniform point on the sphere in R^3 is uniform on [-1, 1] (Archimedes), hence Gamma(t) = a_3(t),
    which loses no digits at small t.
    """
    return np.sign(tilts) * bessel_ratio(3, np.abs(tilts))


def interval_clt(tilt: float) -> float:
    """Limit of n Var(Gamma_n(t)): t coth t (Gamma'(2t) + (Gamma(2t) - Gamma(t))^2).

    As for every law, with the weight e = exp(tX): E[e^2 (X - Gamma)^2] / E[e]^2, and under e^2 the token has the mean
    Gamma(2t) and the variance Gamma'(2t) = 1 - Gamma(2t)^2 - Gamma(2t) / t; E[e^2] / E[e]^2 = t coth t, from
    E[e] = sinh t / t.  1/3 at t = 0, about 1 / (2t) for large t: bounded.
    """
    if tilt == 0:
        return 1 / 3
    near, far = interval_map(np.array([tilt, 2 * tilt]))
    return float(tilt / np.tanh(tilt) * (1 - far**2 - far / tilt + (far - near) ** 2))


def interval_variance(radius: float) -> float:
    """Limit of the variance of the outputs, tokens uniform on [-R, R], A = V = 1: R^2 E L(R^2 z)^2."""
    z, _, weights = graded_rule(radius**2)
    return float(radius**2 * weights @ interval_map(radius**2 * z) ** 2)


def interval_constants(radius: float) -> tuple[float, float]:
    """Limits of sqrt(n) times the root mean square error of mean and covariance, tokens uniform on [-R, R], A = V = 1.

    By first order, as on the sphere (`sphere_constants`): with s = R^2, tokens R z, queries R y, L = `interval_map`,
    and w(y, z) = s y e^(s y z) / sinh(s y),

        psi(z) = R (L(s z) + E_y[w (z - L(s y))]),   psiC(z) = R^2 (L(s z)^2 - C + 2 E_y[w (z - L(s y)) L(s y)]),

    and C = E L(s z)^2. The constants are sqrt(E psi^2) and sqrt(E psiC^2), by quadrature on `graded_rule`; psi is odd
    and psiC even, so that z > 0 is enough.  Relative error below 1e-12 against finer rules, R from 0.05 to 1000.
    """
    strength = radius**2
    z, from_one, weights = graded_rule(strength)  # (z,), 1 - z without loss of digits
    outputs = interval_map(strength * z)  # L(s y) at the same nodes
    scale = 2 * strength * z / -np.expm1(-2 * strength * z)  # s y e^(s y) / sinh(s y), y > 0
    towards = scale * np.exp(-strength * np.outer(from_one, z))  # w(y, z), (z, y)
    away = scale * np.exp(-strength * np.outer(1 + z, z))  # w(-y, z)
    toward_error, away_error = z[:, None] - outputs, z[:, None] + outputs  # z - L(s y), y and -y
    pull = (towards * toward_error + away * away_error) @ weights / 2
    pull_squared = (towards * toward_error - away * away_error) @ (weights * outputs) / 2
    mean = outputs + pull
    covariance = outputs**2 - weights @ outputs**2 + 2 * pull_squared
    return float(radius * np.sqrt(weights @ mean**2)), float(strength * np.sqrt(weights @ covariance**2))


def graded_rule(strength: float) -> tuple[Array, Array, Array]:
    """Nodes z on (0, 1), 1 - z, and weights: Gauss rules on panels that halve towards both ends, down to 1 / strength.

    L(s z) and the weights e^(-s y (1 - z)) change over 1 / s near the ends, and evenly in the logarithm between.
    """
    halvings = max(2, int(np.ceil(np.log2(max(strength, 1)))) + 1)
    edges = np.concatenate([[0], 2.0 ** np.arange(-halvings, 0)])  # 0, …, 1/4, 1/2
    points, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    nodes = (edges[:-1, None] + np.diff(edges)[:, None] * (points + 1) / 2).ravel()  # of (0, 1/2)
    each = (np.diff(edges)[:, None] * weights / 2).ravel()
    mirrored = 1 - nodes[::-1]
    near, far = np.concatenate([nodes, mirrored]), np.concatenate([1 - nodes, nodes[::-1]])
    return near, far, np.concatenate([each, each[::-1]])
