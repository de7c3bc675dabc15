"""What theory predicts: lower bounds of the paper on beta, heuristics of our own, labelled so, tokens that count."""

from typing import Any

import numpy as np


def predictions(horizon: Any, psi: Any) -> dict[str, Any]:
    """Rates that the couplings predict: three lower bounds on beta from the paper, one heuristic of our own.

    For numbers, numpy arrays, xarray and pandas objects.
    """
    return {
        "bound_v3": 1 / (2 * (1 + horizon**2)),
        "bound_v1_experiment": 1 / (2 * (1 + psi)),
        "bound_v1_theorem": 1 / (2 * (1 + 32 * psi)),
        "heuristic": np.minimum(1 / 2, 1 / (1 + horizon**2)),
    }


def heuristic_power(dimension: int) -> float:
    """(d + 1)/4: our heuristic, not the paper's, for the power of 1/ln n with which E||mean_n|| falls at fixed d.

    For large n the mean is that of the corner over all directions, the Steiner point of the hull.  The hull's edge
    fluctuates by about 1/sqrt(ln n), independently in about (ln n)^((d-1)/2) directions, and the mean averages over
    them: (ln n)^(-1/2 - (d-1)/4).  For d = 1 that is the rate of Proposition 5.1.
    """
    return (dimension + 1) / 4


def carriers(effective: Any, n: Any) -> Any:
    """effective^2 / n: about how many tokens carry the variance of attention at a tilt t, from Kish's 1 / sum_i w_i^2.

    The variance is E e^{2<t,X>} / (E e^{<t,X>})^2, which tokens near 2t make up. Among n normal tokens there are about
    n e^{-2|t|^2} of them, and the effective sample size is n e^{-|t|^2}. It is above one while |t| < sqrt(2 ln n) / 2.
    For numbers, numpy arrays, xarray and pandas objects.
    """
    return effective**2 / n
