"""What the studies say together, in a few lines: what generalises, what does not, what is undecided."""

import numpy as np
import xarray as xr

from attnlimit.stats.estimate import Estimate

NAMES = {"mean": "mean", "cov": "covariance"}
HORIZONS, RATES, CORRECTED = "horizon_agreement_overall", "agreement_overall", "agreement_corrected"


def studies_answer(compared: xr.Dataset, agreement: float) -> dict[str, str]:
    """Sentences by key: what was compared, horizons, rates, their variance, order by H, shared noise.

    agreement: the rank correlation from which on heads keep their order, as in the claims.
    """
    models = [str(name) for name in compared["model"].values]
    several = [model for model in models if (compared["model_of_study"] == model).sum() > 1]
    lines = {"about": about(compared)}
    if several:
        judged = compared.sel(model=several)
        kept = {HORIZONS: keep(judged, HORIZONS, HORIZONS, agreement), RATES: keep(judged, RATES, CORRECTED, agreement)}
        lines["horizons"] = (
            f"from text to text the heads of a model {kept[HORIZONS]} the order of their horizons: rank correlation "
            f"{listed(compared, several, horizons)}"
        )
        lines["rates"] = (
            f"from text to text the heads of a model {kept[RATES]} the order of their rates β: rank correlation "
            f"{listed(compared, several, rates)}"
        )
        lines["variance"] = f"where the variance of β comes from: {listed(compared, several, components)}"
    else:
        lines["horizons"] = "no model has two texts here: whether its heads agree between texts is undecided"
    lines["order"] = f"rank correlation of β with H: {listed(compared, models, order)}{over_models(compared)}"
    lines["shared_noise"] = f"in the noise of its errors a layer counts as {shared(compared)}"
    return lines


def about(compared: xr.Dataset) -> str:
    texts = list(dict.fromkeys(map(str, compared["text_of_study"].values)))
    models = [str(name) for name in compared["model"].values]
    count, nouns = compared.sizes["study"], ("study", "studies")
    return f"{count} {nouns[count > 1]}: {', '.join(models)} on {'; '.join(texts)}"


def listed(compared: xr.Dataset, models: list[str], words) -> str:
    """What is said of each model, with its name if there are several."""
    return "; ".join(words(compared, model) + (f" ({model})" if len(compared["model"]) > 1 else "") for model in models)


def number(compared: xr.Dataset, name: str, **place) -> str:
    value, low, high = (f"{number:+.2f}".replace("-", "−") for number in Estimate.of(compared, name, **place))
    return f"{value} (no interval)" if "nan" in low + high else f"{value} [{low}, {high}]"


def keep(compared: xr.Dataset, seen: str, corrected: str, least: float) -> str:
    """Whether all models and statistics surely keep an order, some surely do not, or it is open: as in the claims."""
    low, high = compared[f"{seen}_low"], compared[f"{corrected}_high"]
    return "keep" if bool((low >= least).all()) else "do not keep" if bool((high < least).any()) else "may keep"


def horizons(compared: xr.Dataset, model: str) -> str:
    return number(compared, HORIZONS, model=model)


def rates(compared: xr.Dataset, model: str) -> str:
    """As seen, and how much of what is seen is not sampling."""
    parts = []
    for statistic, words in NAMES.items():
        place = {"model": model, "statistic": statistic}
        share = float(compared["reliability"].sel(place))
        parts.append(f"{words} {number(compared, RATES, **place)}, reliability {share:.2f}")
    return ", ".join(parts)


def components(compared: xr.Dataset, model: str) -> str:
    """Shares in per cent, below 0 shown as 0."""
    parts = []
    for statistic, words in NAMES.items():
        shares = compared["variance_share"].sel(model=model, statistic=statistic)
        spoken = {str(name): f"{max(float(shares.sel(component=name)), 0):.0%}" for name in shares["component"].values}
        parts.append(
            f"{words} {spoken['head']} head, {spoken['text']} text, {spoken['head_text']} head in a text, "
            f"{spoken['sampling']} sampling"
        )
    return "; ".join(parts)


def order(compared: xr.Dataset, model: str) -> str:
    parts = [
        f"{words} {number(compared, 'order_of_model', model=model, statistic=statistic, coupling='H')}"
        for statistic, words in NAMES.items()
    ]
    return ", ".join(parts)


def over_models(compared: xr.Dataset) -> str:
    count = len(compared["model"])
    if count < 2:
        return "; one model says nothing of others"
    parts = [
        f"{words} {number(compared, 'order_over_models', statistic=statistic, coupling='H')}"
        for statistic, words in NAMES.items()
    ]
    return f"; over {count} models: {', '.join(parts)}"


def shared(compared: xr.Dataset) -> str:
    """Smallest and largest over studies, at the largest n of each."""
    heads = " or ".join(sorted({str(int(each)) for each in compared["heads"].values}))
    parts = []
    for statistic, words in NAMES.items():
        overall = compared["effective_heads_overall"].sel(statistic=statistic).transpose("study", "n").values
        last = [row[np.isfinite(row)][-1] for row in overall]
        span = f"{min(last):.1f}" if len(last) == 1 else f"{min(last):.1f} to {max(last):.1f}"
        parts.append(f"{words} {span}")
    return f"{', '.join(parts)} independent heads, of {heads}"
