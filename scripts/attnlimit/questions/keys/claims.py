"""Claims on keys of a context: does theory predict how many are needed, does the context matter, do kept keys help?"""

from collections.abc import Callable

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import UNDECIDED, chance, decide

LOGARITHM, PLAIN = (np.log, np.exp), (float, float)  # a scale, and back from it
WINDOWS = "interval over windows of text, left out one at a time, with Student's law"


def judge(
    estimate: Estimate,
    data: xr.Dataset,
    quantity: str,
    asked: str,
    why: str,
    least: float,
    most: float = np.inf,
    scale: tuple[Callable, Callable] = LOGARITHM,
) -> Finding:
    """Where an interval lies: within what is allowed, wholly outside, or across its edge.

    scale: on which the interval was made, and on which it has Student's tails.
    """
    value, low, high = map(float, estimate)
    to, back = scale
    windows = data.attrs["windows"]
    if not np.isfinite([value, low, high]).all():
        return Finding(
            UNDECIDED, "no interval", {"windows": windows}, why, f"not here: {windows} windows give no interval"
        )
    found = f"{quantity} {value:.2f} [{low:.2f}, {high:.2f}]"
    bounds = {"below": back(to(least) - to(high) + to(value)), "above": back(to(most) + to(value) - to(low))}
    edges = [f"{side} {bound:.2f}" for side, bound in bounds.items() if np.isfinite(bound)]
    return Finding(
        decide(low, high, least, most),
        f"{found}; {asked}",
        {"value": value, "low": low, "high": high, "windows": windows},
        f"{why} Over {windows} windows, which are few: {found}; interval and probability are Student's.",
        f"yes: {' or '.join(edges)} fails it",
        p=chance(*map(to, (value, low, high, least, most)), freedom=windows - 1),
        number=found,
    )


@claim(
    id="keys_first_order",
    headline="First order predicts how many keys a head needs",
    experiment="heads of {model}",
    ours=True,
    statement="The exact first order tells how many keys the median head needs for an error of 5 %, where first "
    "order is reliable and that many were measured.",
    test="n(5 %) by first order over n(5 %) measured, median over heads and protocols where first order is reliable: "
    f"n at least 10 times the mean of u², u the weight of a key over the mean weight; {WINDOWS}.",
    fits=("keys",),
    figure="keys",
    thresholds=("keys_tolerance",),
)
def keys_first_order(fits: Fits, thresholds: dict) -> Finding:
    """Holds: the interval of the median ratio lies within the tolerance of 1.  Fails: it lies wholly outside."""
    data, tolerance = fits.stores["keys"], thresholds["keys_tolerance"]
    cells = int(np.isfinite(data["first_order_ratio"].sel(eps=0.05)).sum())
    return judge(
        Estimate.of(data, "median_first_order_ratio", eps=0.05),
        data,
        "predicted over measured n(5 %)",
        f"allowed {1 - tolerance:g} to {1 + tolerance:g}",
        f"Nothing is fitted: c₁ is a sum over the dense weights. Of {cells} heads and protocols whose n(5 %) lies "
        "between the sizes and where the expansion holds, the median counts.",
        1 - tolerance,
        1 + tolerance,
    )


@claim(
    id="keys_growth",
    headline="The keys needed grow with the context",
    experiment="random keys, heads of {model}",
    ours=True,
    statement="The number of uniformly drawn keys for an error of 5 % grows with the context: over these contexts no "
    "limit in the paper's sense is in sight.",
    test=f"Slope of log n(5 %) by first order on log context, median over heads, protocol uniform; {WINDOWS}.",
    fits=("keys",),
    figure="keys_by_context",
    thresholds=("growth_power",),
)
def keys_growth(fits: Fits, thresholds: dict) -> Finding:
    """Holds: the interval of the power lies above the threshold.  Fails: below."""
    data, least = fits.stores["keys"], thresholds["growth_power"]
    contexts = data["context"].values
    return judge(
        Estimate.of(data, "median_growth", protocol="uniform"),
        data,
        "power of the context",
        f"required: above {least:g}",
        f"Contexts of {contexts[0]:,} to {contexts[-1]:,} tokens, prefixes of the same windows; 0 would be a limit "
        "that does not depend on the context, 1 a fixed share of it.",
        least,
        scale=PLAIN,
    )


@claim(
    id="keys_together",
    headline="First and last keys together gain more than apart",
    experiment="heads of {model}",
    ours=True,
    statement="Kept first and last keys together gain more than the product of their single gains.",
    test="Mean squared error of uniform draws over that of a protocol, at the largest n: gain of both over the "
    f"product of the single ones, median over heads; {WINDOWS}.",
    fits=("keys",),
    figure="keys",
    thresholds=(),
)
def keys_together(fits: Fits, thresholds: dict) -> Finding:
    """Holds: the interval lies above 1.  Fails: below."""
    data = fits.stores["keys"]
    single = ", ".join(
        f"{name} {float(data['median_gain'].sel(protocol=name)):.1f}" for name in ("sink", "recent", "sink_recent")
    )
    return judge(
        Estimate.of(data, "joint_gain"),
        data,
        "gain together over the product of single gains",
        "required: above 1",
        f"Median gains: {single}.",
        1.0,
    )
