"""How many tokens a softmax average rests on."""

from typing import Any


def carriers(effective: Any, n: Any) -> Any:
    """effective^2 / n: about how many tokens carry the variance of attention at a tilt t, from Kish's 1 / sum_i w_i^2.

    The variance is E e^{2<t,X>} / (E e^{<t,X>})^2, which tokens near 2t make up. Among n normal tokens there are about
    n e^{-2|t|^2} of them, and the effective sample size is n e^{-|t|^2}. It is above one while |t| < sqrt(2 ln n) / 2.
    Takes whatever computes: numbers, numpy arrays, xarray, pandas.
    """
    return effective**2 / n
