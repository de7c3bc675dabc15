"""Our questions on several studies: what of the heads of a model stays the same from text to text.

Judged for these heads: replicates are the only noise.  What layers like these would give stands beside.
"""

from collections.abc import Callable, Iterator

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import (
    STATISTIC_NAMES,
    UNDECIDED,
    Part,
    Parts,
    chance,
    decide,
    every_p,
    every_part,
    measured_of,
    signed,
    spoken,
    spread,
    within,
)

QUANTITIES = {
    "error_mean": "error of the mean",
    "error_cov": "error of the covariance",
    "tokens_mean": "n(5 %) of the mean",
    "tokens_cov": "n(5 %) of the covariance",
    "horizon": "H",
}
OF_ERRORS = [name for name in QUANTITIES if name != "horizon"]
PARTS = {"head": "head", "text": "text", "head_text": "head × text", "sampling": "sampling"}
UNKNOWN = "no model here has such numbers of its heads on two texts"
Said = Callable[[xr.Dataset], str]


def together(parts: Parts, asked: str, in_short: str = "", side: str = "below", **fitted_with: float) -> Finding:
    """Of a claim whose parts must all hold; one part that fails is enough to fail.

    in_short: in place of all parts, where they are many;  side: of its edge, on which a number fails.
    """
    if not parts:
        return Finding(UNDECIDED, UNKNOWN, {}, f"{UNKNOWN}.", "not here: only a second text could")
    number = in_short or spoken(parts)
    edges = spread([part.measured["fails_beyond"] for part in parts.values()])
    return Finding(
        every_part(parts),
        f"{number}; {asked}",
        measured_of(parts),
        f"{spoken(parts)}.",
        f"yes: one number {side} {edges.replace('-', '−')} fails it, as wide as its interval is",
        fitted_with=fitted_with,
        p=every_p(parts),
        number=number,
    )


def judge(of: xr.Dataset, name: str, least: float, before: str = "") -> Part:
    """Whether the interval of these heads lies above the least; that of layers like these is kept beside."""
    number, layers = Estimate.of(of, name), [float(of[f"{name}_layers_{end}"]) for end in ("low", "high")]
    measured = {"value": number.value, "low": number.low, "high": number.high, "p": chance(*number, least=least)}
    measured["fails_beyond"] = least - (number.high - number.value)
    words = before + within(*number)
    if np.isfinite(layers).all():
        measured |= {"layers_low": layers[0], "layers_high": layers[1]}
        words += f", layers like these [{signed(layers[0])}, {signed(layers[1])}]"
    return Part(decide(number.low, number.high, least), measured, words, p=measured["p"])


def by_model(data: xr.Dataset, name: str, quantities: list[str], least: float, said: Said | None = None) -> Parts:
    """Of each model with several texts and each quantity that is known: whether its interval lies above the least."""
    parts = {}
    for model in map(str, data["model"].values if name in data else []):
        for quantity in [each for each in quantities if each in data["quantity"].values]:
            of = data.sel(model=model, quantity=quantity)
            if np.isfinite(of[name]):
                parts[f"{model}, {QUANTITIES[quantity]}"] = judge(of, name, least, said(of) if said else "")
    return parts


def by_study(data: xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    return ((str(name), data.sel(study=name)) for name in data["study"].values)


@claim(
    id="studies_order",
    headline="Heads keep the order of their errors",
    experiment="from text to text",
    ours=True,
    statement="A head that needs many tokens on one text needs many on another: the heads of a model keep the order of "
    "their errors from text to text.",
    test="Rank correlation over heads between two texts, mean over pairs, corrected for noise, of the relative error "
    "at the largest n and of n(5 %); replicates drawn again.",
    fits=("studies",),
    figure="studies_heads",
    thresholds=("agreement",),
)
def studies_order(fits: Fits, thresholds: dict) -> Finding:
    least = thresholds["agreement"]
    return together(by_model(fits.stores["studies"], "agreement", OF_ERRORS, least), f"required: above {least:g}")


@claim(
    id="studies_horizons",
    headline="Heads keep the order of their horizons",
    experiment="from text to text",
    ours=True,
    statement="The heads of a model keep the order of their horizons from text to text.",
    test="Rank correlation of H over heads between two texts, mean over pairs; no replicate enters H, so that the "
    "number is exact for these heads and texts.",
    fits=("studies",),
    figure="studies_horizon",
    thresholds=("agreement",),
)
def studies_horizons(fits: Fits, thresholds: dict) -> Finding:
    least = thresholds["agreement"]
    return together(by_model(fits.stores["studies"], "agreement", ["horizon"], least), f"required: above {least:g}")


@claim(
    id="studies_variance",
    headline="Errors differ more by head than by text",
    experiment="several texts",
    ours=True,
    statement="Errors differ more from head to head than from text to text.",
    test="Variance of ln error at the largest n, and of ln n(5 %), over heads, less that over texts and of head × "
    "text, as a share of all; replicates drawn again.",
    fits=("studies",),
    figure="studies_heads",
    thresholds=(),
)
def studies_variance(fits: Fits, thresholds: dict) -> Finding:
    """Holds where the interval of the margin of heads lies above 0, fails where it lies below."""
    parts = by_model(fits.stores["studies"], "head_margin", OF_ERRORS, 0.0, lambda of: f"{spoken_shares(of)}, margin ")
    return together(parts, "required: margin above 0")


def spoken_shares(of: xr.Dataset) -> str:
    """Below 0 is shown as 0."""
    shares = {words: float(of["variance_share"].sel(component=name)) for name, words in PARTS.items()}
    return ", ".join(f"{words} {max(share, 0):.0%}" for words, share in shares.items())


@claim(
    id="studies_sub_gaussian",
    headline="Tokens are sub-Gaussian, close to their covariance",
    experiment="several texts",
    ours=True,
    statement="Tokens of every text are sub-Gaussian along the directions of the heads, with a variance proxy close "
    "to their covariance (the paper assumes them sub-Gaussian).",
    test="Share of heads along whose leading directions log E exp(s u) ≤ f s²/2, f the sub_gaussian_factor, at every "
    "s that enough tokens carry: exact for these heads and texts. A heavy tail leaves few such s: a lower estimate.",
    fits=("studies",),
    thresholds=("sub_gaussian_share",),
)
def studies_sub_gaussian(fits: Fits, thresholds: dict) -> Finding:
    data, least = fits.stores["studies"], thresholds["sub_gaussian_share"]
    factor, parts = float(data["sub_gaussian_factor"]), {}
    for name, of in by_study(data):
        parts[name] = judge(of, "sub_gaussian_share", least)
        parts[name].measured["largest"] = float(of["sub_gaussian"].max())
    shares, largest = ([part.measured[of] for part in parts.values()] for of in ("value", "largest"))
    in_short = f"{spread(shares)} of the heads in {len(parts)} studies, largest factor {max(largest):.2f}"
    asked = f"required: factor up to {factor:g} in {least:.0%}"
    return together(parts, asked, in_short, sub_gaussian_factor=factor)


@claim(
    id="studies_shared_noise",
    headline="Heads of a layer share their errors",
    experiment="several texts",
    ours=True,
    statement="Heads of a layer share their errors: it is worth far fewer independent heads than it has (the paper "
    "leaves several heads open).",
    test="Mean over heads of the variance over replicates of e²/E e², e the error of a head at the largest n, over the "
    "variance of its mean over heads, summed over layers; replicates left out in turn.",
    fits=("studies",),
    figure="studies_shared_noise",
    thresholds=("shared_share",),
)
def studies_shared_noise(fits: Fits, thresholds: dict) -> Finding:
    """Judged as ln of the share of its heads that a layer is worth, whose interval is symmetric."""
    data, share, parts, in_short = fits.stores["studies"], thresholds["shared_share"], {}, []
    for statistic, called in STATISTIC_NAMES.items():
        found = []
        for name, study in by_study(data):
            number, heads = Estimate.of(study.sel(statistic=statistic), "effective_heads"), int(study["heads"])
            low, high = np.log(number.low / heads), np.log(number.high / heads)
            middle, edge = (low + high) / 2, float(np.log(share))  # the interval is corrected for bias, the value not
            measured = number._asdict() | {"heads": heads, "p": chance(middle, low, high, most=edge)}
            measured["fails_beyond"] = share * heads * float(np.exp(middle - low))
            words = f"{number.value:.1f} [{number.low:.1f}, {number.high:.1f}] of {heads}"
            parts[f"{name}, {called}"] = Part(decide(low, high, most=edge), measured, words, p=measured["p"])
            found.append(number.value)
        in_short.append(f"{called} {spread(found, 1)}")
    there = " or ".join(map(str, sorted({int(each) for each in data["heads"].values})))
    words = f"{', '.join(in_short)} independent heads, of {there}, in {data.sizes['study']} studies"
    return together(parts, f"required: at most {share:.0%}", words, side="above")
