"""The short answer: how many tokens the heads need, what their rates are, and how these go with the horizon."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import heads_only
from attnlimit.questions.contexts.fit import layers_measured, longest_run
from attnlimit.sources.corpus.location import text_name
from attnlimit.stats.complexity import BEYOND
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.fits import WITHOUT_REPLACEMENT, without_replacement
from attnlimit.stats.horizon_tests import coefficient, without_one
from attnlimit.stats.order import rankable
from attnlimit.stats.verdicts import within

NAMES = {"mean": "mean", "cov": "covariance"}
SHARE = 0.05  # eps of the sentence on tokens
NEAR = 0.05  # how far from 1/2 a rate may be and count as 1/2
FEW = 3  # heads that are named one by one
EXACT = "the limits of the heads are exact: every token is a query"
NAMED = 6  # heads, before they are only counted


def answer(rates: xr.Dataset, weakest_horizon: float) -> dict[str, str]:
    """Sentences by key: what was measured, tokens needed, rates, how they go with H, heads below 1/2, worst fit.

    weakest_horizon: as in the claims on the heads.  One more sentence if limits are not exact, and one if samples are
    drawn without replacement.
    """
    parts = by_statistic(rates)
    model = rates.attrs["model"]["name"].rpartition("/")[2]
    lines = {"about": about(rates)}
    lines |= {f"tokens_{name}": f"{'; '.join(tokens(part, name))}." for name, part in parts.items()}
    lines["rates_mean"] = f"{rates_near_half(parts['mean'], model)}."
    lines["rates_cov"] = f"{rates_apart(parts['cov'])}."
    lines["curve"] = joined(
        "coefficient of β on the paper's curve 1/(2(1+H²)) within layers, over unsaturated heads with H ≥ "
        f"{weakest_horizon:g} (0: no dependence, 1: as the curve)",
        parts,
        lambda part: on_curve(part, weakest_horizon),
    )
    lines["below_half"] = joined("heads whose 95 % interval of β lies below 1/2", parts, below_half)
    lines["worst_fit"] = joined("worst fit", parts, worst_fit)
    if (limits := about_limits(rates)) != EXACT:
        lines["limits"] = limits
    if without_replacement(rates.attrs):
        lines["replacement"] = f"note: {WITHOUT_REPLACEMENT}"
    return lines


def by_statistic(rates: xr.Dataset) -> dict[str, xr.Dataset]:
    """Fits of the error itself, the heads of all layers in one row."""
    heads = heads_only(rates).sel(part="error").stack(row=("layer", "head"))
    return {name: heads.sel(statistic=name) for name in NAMES}


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def context_answer(fits: xr.Dataset) -> dict[str, str]:
    """How much larger mean squared errors are in the longest runs than among independent tokens.

    For the mean, whose error falls like 1/sqrt(n), a context of n tokens is then worth that part of n independent ones.
    """
    run, length = longest_run(fits)
    costs = []
    for statistic, name in NAMES.items():
        share, low, high = Estimate.of(fits, "overall_share", run=run, statistic=statistic)
        if np.isfinite([share, low, high]).all():
            costs.append(f"{1 / share:.1f} [{1 / high:.1f}, {1 / low:.1f}] for the {name}")
    if not costs:
        return {}
    context = f"mean squared error of tokens in runs of {length:,} consecutive ones, over that of independent tokens"
    return {"contexts": f"{context}: {', '.join(costs)} (medians over the heads of {layers_measured(fits)})"}


def about(rates: xr.Dataset) -> str:
    """Model, text, population and sizes."""
    model, sizes = rates.attrs["model"]["name"], rates["n"].values
    population = f"{rates.attrs['population']:,} tokens of {text_name(rates.attrs['corpus'])}"
    layers = rates.sizes["layer"]
    heads = f"{layers} layer{'' if layers == 1 else 's'} of {heads_only(rates).sizes['head']} heads"
    return f"{model} ({heads}) on {population}, n from {sizes[0]:,} to {sizes[-1]:,}:"


def about_limits(rates: xr.Dataset) -> str:
    """How well the limits of the heads are known, against the errors at the largest n; by name what this marks."""
    heads = heads_only(rates).sel(part="error", statistic=list(NAMES)).stack(row=("layer", "head"))
    share, marked = heads["limit_se_share"], heads["limit_uncertain"]
    if not (share > 0).any():
        return EXACT
    spans = "; ".join(f"{words} {median_and_largest(share.sel(statistic=name))}" for name, words in NAMES.items())
    named = [
        f"layer {layer} head {head} ({', '.join(NAMES[name] for name in NAMES if marks.sel(statistic=name))})"
        for (layer, head), marks in ((row, marked.sel(row=row)) for row in heads["row"].values)
        if marks.any()
    ]
    count = f"{int(marked.sum())} of {marked.size} fits are marked for it"
    which = f": {', '.join(named[:NAMED])}{f' and {len(named) - NAMED} more' if len(named) > NAMED else ''}"
    spoken = f"{count}, and no verdict rests on them{which}" if named else count
    return f"standard error of the limits, over the error at the largest n: {spans}; {spoken}"


def median_and_largest(share: xr.DataArray) -> str:
    return f"median {100 * float(share.median()):.2g} %, largest {100 * float(share.max()):.2g} %"


def joined(title: str, parts: dict[str, xr.Dataset], words) -> str:
    return f"{title}: " + "; ".join(f"{NAMES[name]} {words(part)}" for name, part in parts.items())


def tokens(heads: xr.Dataset, name: str) -> list[str]:
    """Half of the heads are within 5 % of their limit mean after … tokens; then, if so: the slowest head needs …"""
    needed, sizes = heads["tokens_needed"].sel(eps=SHARE).values, heads["n"].values
    known = np.sort(needed[~np.isnan(needed)])
    if not len(known):
        return [f"for no head is it known when it is within {100 * SHARE:g} % of its limit {NAMES[name]}"]
    half, slowest = known[(len(known) - 1) // 2], known[-1]  # the lower median: half of the heads, or more
    goal = f"within {100 * SHARE:g} % of their limit {NAMES[name]}"
    if half > sizes[-1]:
        reached = int((known <= sizes[-1]).sum())
        return [f"{reached} of {len(known)} heads are {goal} by the largest n measured, {int(sizes[-1]):,}"]
    after = spoken(half, sizes, " tokens")
    return [f"half of the heads are {goal} after {after}", f"the slowest head needs {spoken(slowest, sizes)}"]


def spoken(needed: float, sizes: np.ndarray, unit: str = "") -> str:
    """A number of tokens as `complexity.tokens_needed` means it."""
    if np.isinf(needed):
        return f"more than {BEYOND * int(sizes[-1]):,}{unit} (extrapolated)"
    if needed <= sizes[0]:
        return f"at most {int(sizes[0]):,}{unit}"
    return f"about {two_digits(needed)}{unit}" + (" (extrapolated)" if needed > sizes[-1] else "")


def two_digits(tokens: float) -> str:
    """A number of tokens, rounded."""
    return f"{float(f'{tokens:.2g}'):,.0f}"


def near_half(heads: xr.Dataset) -> xr.DataArray:
    """Which heads have a rate near 1/2: their 95 % interval lies within the tolerance."""
    return (heads["beta_low"] >= 0.5 - NEAR) & (heads["beta_high"] <= 0.5 + NEAR)


def rates_near_half(heads: xr.Dataset, model: str) -> str:
    """For the mean of the outputs, … of … heads have a rate near 1/2; by name the few that have not.

    By the 95 % interval of beta: within the tolerance, or wholly outside.
    """
    sizes, low, high = heads["n"].values, heads["beta_low"].values, heads["beta_high"].values
    near = int(near_half(heads).sum())
    distant = heads.isel(row=np.flatnonzero((high < 0.5 - NEAR) | (low > 0.5 + NEAR)))
    distant = distant.isel(row=np.argsort(distant["beta"].values, kind="stable"))
    named = [
        f"layer {layer} head {head}, with a horizon of {horizon:.2g}, has {rate:.2f}"
        for (layer, head), horizon, rate in zip(
            distant["row"].values, distant["horizon"].values, distant["beta"].values, strict=True
        )
    ]
    many = f"in {len(named)} it lies entirely outside, with rates between {spread(distant['beta'])}" if named else ""
    others = "; ".join(named) if len(named) <= FEW else many
    open_ = len(low) - near - len(named)
    measured = f"for the mean of the outputs, with n from {sizes[0]:,} to {sizes[-1]:,}"
    counted = f"the 95 % interval of β lies within {NEAR} of 1/2 in {near} of {len(low)} heads of {model}"
    undecided = f", across the edge in {open_}" if open_ else ""
    return f"{measured}, {counted}{undecided}" + (f"; {others}" if others else "")


def rates_apart(heads: xr.Dataset) -> str:
    """For the covariance of the outputs β lies between …, and so many of the fits are no exponent."""
    beta, above = heads["beta"], int((heads["beta"] > 0.5).sum())
    marked = int((heads["misfit"] | heads["saturated"]).sum())
    return (
        f"for the covariance of the outputs β lies between {spread(beta)}, above 1/2 in {above} of {beta.size} heads; "
        f"{marked} of these fits are no power law over these n, or saturated (hollow in the figures)"
    )


def spread(numbers: xr.DataArray) -> str:
    return f"{float(numbers.min()):.2f} and {float(numbers.max()):.2f}"


def on_curve(heads: xr.Dataset, weakest_horizon: float) -> str:
    """The same numbers as in the claims: see `horizon_tests`."""
    names = ["beta", "beta_low", "beta_high", "horizon", "bound_v3", "saturated", "limit_uncertain"]
    fits = rankable(heads[names].reset_index("row").to_dataframe().reset_index(), weakest_horizon)
    if len(fits) < fits["layer"].nunique() + 3:
        return "too few heads"
    every, left = (found(fits, ["layer"], these=True) for found in (coefficient, without_one))
    return f"{within(*every)}, without the head that tells most {within(*left)}"


def below_half(heads: xr.Dataset) -> str:
    below = heads["beta_high"] < 0.5
    marked = below & (heads["misfit"] | heads["saturated"] | heads["limit_uncertain"])
    reasons = "no power law or saturated" + (" or of an uncertain limit" if heads["limit_uncertain"].any() else "")
    return f"{int(below.sum())} of {heads.sizes['row']} ({int(marked.sum())} of them {reasons})"


def worst_fit(heads: xr.Dataset) -> str:
    worst = heads.isel(row=int((heads["chi2"] / heads["dof"]).argmax("row")))
    verdict = "no power law over these n" if worst["misfit"] else "within the threshold"
    chi2, dof = float(worst["chi2"]), int(worst["dof"])
    return (
        f"layer {int(worst['layer'])} head {int(worst['head'])}, χ² {chi2:.0f} for {dof} degrees of freedom ({verdict})"
    )
