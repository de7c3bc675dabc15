"""Closed forms of attention on tokens uniform on [-1, 1], A = V = 1: the tilt is the query. Nothing is sampled."""

import numpy as np

from attnlimit.theory.sphere import bessel_ratio

Array = np.ndarray


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
