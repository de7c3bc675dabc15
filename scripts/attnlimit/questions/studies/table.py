"""The comparison as tables: one row a head and study for a spreadsheet, the answers for people."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.stats.estimate import ENDS, Estimate
from attnlimit.stats.table import flat

NAMES = {"mean": "mean", "cov": "covariance"}
WHERE = ["study", "layer", "head"]
OF_HEAD = ("horizon", "psi", "constant_tilt", "bound_v3", "sub_gaussian")
OF_FIT = ("beta", "beta_low", "beta_high", "misfit", "saturated", "limit_uncertain")
WHAT = (
    "What was asked of the studies together. Intervals are 95 %, from layers left out in turn; over models Hartung and "
    "Knapp's; of independent heads from replicates left out in turn. One without ends has too few texts, models or "
    "layers for one. What these numbers decide is said by the claims; each head is in studies.csv."
)
ANSWERS = ("question", "of", "answer", "from", "to")
QUESTIONS = {  # variable: what it answers
    "agreement_overall": "β of a head: rank correlation between texts, mean over pairs",
    "reliability": "share of the variance of ranks of β that is not sampling",
    "agreement_corrected": "the rank correlation, corrected for sampling noise",
    "horizon_agreement_overall": "H of a head: rank correlation between texts, mean over pairs",
    "variance_share": "share of the variance of β",
    "order_of_model": "rank correlation of β, mean over texts",
    "order_over_models": "the same over models, random effects",
    "sub_gaussian_share": "share of heads that see sub-Gaussian tokens",
    "effective_heads_overall": "independent heads that a layer is worth, at the largest n",
}


def heads_table(compared: xr.Dataset) -> pd.DataFrame:
    """One row a head and study: couplings, tails, and of each statistic the rate with interval and tokens needed."""
    heads = compared[list(OF_HEAD)].assign(effective_rank=compared["participation_ratio"])
    heads["kurtosis"] = compared["kurtosis"].isel(direction=0, drop=True)
    for statistic in NAMES:
        chosen = compared.sel(statistic=statistic)
        fits = {f"{name}_{statistic}": chosen[name].sel(part="error", drop=True) for name in OF_FIT}
        fits[f"beta_se_{statistic}"] = standard_error(chosen)
        fits[f"tokens_5_{statistic}"] = chosen["tokens_needed"]
        heads = heads.assign({name: array.drop_vars("statistic") for name, array in fits.items()})
    table = flat(heads.drop_vars(["model_of_study", "text_of_study"]), *WHERE)
    table = table[table["horizon"].notna()]  # heads that the model has
    labels = {
        name: dict(zip(compared["study"].values, compared[f"{name}_of_study"].values, strict=True))
        for name in ("model", "text")
    }
    for place, (name, of) in enumerate(labels.items(), 1):
        table.insert(place, name, table["study"].map(of))
    return table


def standard_error(chosen: xr.Dataset) -> xr.DataArray:
    """Of beta: the root of the diagonal of beta_covariance, (…, head)."""
    diagonal = np.diagonal(chosen["beta_covariance"].transpose(..., "head", "head_2").values, axis1=-2, axis2=-1)
    return chosen["beta"].sel(part="error", drop=True).transpose("study", "layer", "head").copy(data=np.sqrt(diagonal))


def study_facts(compared: xr.Dataset) -> dict[str, str]:
    """Model, text and population of each study."""
    facts = {}
    for name in map(str, compared["study"].values):
        model, text = (str(compared[f"{what}_of_study"].sel(study=name).item()) for what in ("model", "text"))
        facts[name] = f"{model} on {text}, {compared.attrs['studies'][name]['population']:,} tokens"
    return facts


def answer_rows(compared: xr.Dataset) -> Iterator[tuple[str, ...]]:
    """Every number that answers a question, with its interval, in the order of the questions."""
    for name, question in QUESTIONS.items():
        if name not in compared:
            continue
        ends = compared[[name + end for end in ENDS]]
        ends = ends.isel(n=-1) if "n" in ends.dims else ends
        dims = [dim for dim in ("model", "study", "statistic", "coupling", "component") if dim in ends.dims]
        flat = ends.stack(row=dims) if dims else ends.expand_dims("row")
        for place in range(flat.sizes["row"]):
            one = flat.isel(row=place)
            if np.isnan(one[name]):
                continue
            of = ", ".join(spoken(str(one[dim].item())) for dim in dims)
            yield question, of, *map(number, Estimate.of(one, name))


def spoken(label: str) -> str:
    words = {
        "cov": "covariance",
        "head_text": "head × text",
        "s0": "s₀",
        "H given s0": "H given s₀",
        "s0 given H": "s₀ given H",
    }
    return words.get(label, label)


def number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}".replace("-", "−")
