"""The short answer: what the measured rates are, and how they go with the horizon."""

import xarray as xr
from scipy.stats import spearmanr

from attnlimit.coordinates import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.rates.finite_population import WITHOUT_REPLACEMENT, without_replacement


def answer(rates: xr.Dataset) -> list[str]:
    """Four lines: range of beta, its rank correlation with H, heads surely below 1/2, the worst fit.

    A fifth if samples are drawn without replacement.
    """
    heads = rates.sel(head=rates["head"] != WHOLE_LAYER, part=PARTS.index("error")).stack(row=("layer", "head"))
    mean, cov = (heads.sel(statistic=STATISTICS.index(name)) for name in ("mean", "cov"))
    return [
        f"beta of {heads.sizes['row']} heads: mean {spread(mean)}; covariance {spread(cov)}",
        f"Spearman correlation of beta with H, all heads: mean {correlation(mean)}; covariance {correlation(cov)}",
        f"heads whose 95 % interval lies below 1/2: mean {below_half(mean)}; covariance {below_half(cov)}",
        f"worst fit: mean, {worst_fit(mean)}; covariance, {worst_fit(cov)}",
        *([f"mind: {WITHOUT_REPLACEMENT}"] if without_replacement(rates.attrs) else []),
    ]


def spread(rates: xr.Dataset) -> str:
    return f"{float(rates['beta'].min()):.2f} to {float(rates['beta'].max()):.2f}"


def correlation(rates: xr.Dataset) -> str:
    return f"{spearmanr(rates['beta'], rates['horizon']).statistic:+.2f}"


def below_half(rates: xr.Dataset) -> str:
    below = rates["beta_high"] < 0.5
    marked = below & (rates["misfit"] | rates["saturated"])
    return f"{int(below.sum())} of {rates.sizes['row']} ({int(marked.sum())} of them no power law or saturated)"


def worst_fit(rates: xr.Dataset) -> str:
    worst = rates.isel(row=int((rates["chi2"] / rates["dof"]).argmax("row")))
    verdict = "no power law over these n" if worst["misfit"] else "within the threshold"
    chi2, dof = float(worst["chi2"]), int(worst["dof"])
    return f"layer {int(worst['layer'])} head {int(worst['head'])}, chi2 {chi2:.0f} for dof {dof} ({verdict})"
