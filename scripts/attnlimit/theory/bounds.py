"""Rates that theory predicts: lower bounds of the paper on beta, and heuristics of our own, labelled so."""

from typing import Any

import numpy as np


def predictions(horizon: Any, psi: Any) -> dict[str, Any]:
    """Rates that the couplings predict: three lower bounds on beta from the paper, one heuristic of our own.

    Takes whatever computes: numbers, numpy arrays, xarray, pandas.
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
