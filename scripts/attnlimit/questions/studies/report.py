"""The comparison for people: a few lines, a table of what was asked, and one row a head and study for a spreadsheet."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.questions.studies.claims import OF_ERRORS, PARTS, QUANTITIES, UNKNOWN, spoken_shares
from attnlimit.questions.studies.gather import COMPARED
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.table import flat
from attnlimit.stats.verdicts import STATISTIC_NAMES, signed, spread, within

OF_HEAD = ("horizon", "psi", "constant_tilt", "bound_v3", "sub_gaussian")
OF_FIT = ("relative_error", "tokens_needed", "beta", "beta_low", "beta_high", "misfit", "saturated", "limit_uncertain")
WHAT = (
    "What was asked of the studies together, with two 95 % intervals. These heads: replicates are the only noise, and "
    "H has none. Layers like these: layers left out in turn, if there are three. What these numbers decide is said by "
    "the claims; each head is in studies.csv."
)
ANSWERS = ("question", "of", "answer", "these heads", "layers like these")
QUESTIONS = {  # variable: what it answers
    "agreement": "rank correlation over heads between texts, corrected for noise",
    "reliability": "share of the variance of ranks that is not sampling",
    "variance_share": "share of the variance",
    "order": "rank correlation over heads, corrected for noise",
    "models_needed": "models that a claim over models on this correlation would need",
    "heads_changed": "heads whose β fell or rose (95 % interval of the change below or above 0), or neither",
    "sub_gaussian_share": "share of heads that see sub-Gaussian tokens",
    "effective_heads": "independent heads that a layer is worth, at the largest n",
}
DIMS = ("model", "study", "variant", "quantity", "statistic", "coupling", "component", "direction_of_change")
WORDS = QUANTITIES | PARTS | STATISTIC_NAMES | {"H": "with H", "s0": "with s₀"}


def studies_answer(compared: xr.Dataset, agreement: float) -> dict[str, str]:
    """Sentences by key; agreement: the rank correlation from which on heads keep their order, as in the claims."""
    texts = list(dict.fromkeys(map(str, compared["text_of_study"].values)))
    models, count = [str(name) for name in compared["model"].values], compared.sizes["study"]
    lines = {"about": f"{count} {('study', 'studies')[count > 1]}: {', '.join(models)} on {'; '.join(texts)}"}
    for key, quantities in (("errors", OF_ERRORS), ("horizons", ["horizon"])):
        of = compared.sel(quantity=[name for name in quantities if name in compared["quantity"].values])
        if "agreement" not in of or not of["agreement"].notnull().any():
            lines[key] = f"whether the heads of a model keep the order of their {key} is undecided: {UNKNOWN}"
            continue
        all_above = not (of["agreement_low"] < agreement).any()
        keep = "do not keep" if (of["agreement_high"] < agreement).any() else "keep" if all_above else "may keep"
        numbers = "; ".join(listed(of, "agreement", ("model", "quantity")))
        lines[key] = (
            f"from text to text the heads of a model {keep} the order of their {key}: rank correlation {numbers}"
        )
        shares = [f"{words} {spoken_shares(one)}" for words, one in places(of, "head_margin", ("model", "quantity"))]
        lines[f"variance_{key}"] = f"shares of the variance of {key}, as logarithms: {'; '.join(shares)}"
    if len(models) > 1:
        needed = compared["models_needed"].values
        span = spread(needed[np.isfinite(needed)], 0) if np.isfinite(needed).any() else "very many"
        lines["models"] = (
            f"{len(models)} models, chosen by what was at hand, support no statement on models in general: an interval "
            f"of the wanted width would need about {span} sampled ones"
        )
    if "heads_changed" in compared:
        counts = compared["heads_changed"].sel(statistic="mean")
        known, total = int(counts.notnull().any(("variant", "direction_of_change")).sum()), counts.sum("study")
        ways = total["direction_of_change"].values.tolist()
        found = [
            f"{one['variant'].item()}: {', '.join(f'{int(n)} {way}' for way, n in zip(ways, one.values, strict=True))}"
            for one in total.transpose("variant", "direction_of_change")
        ]
        lines["interventions"] = (
            f"heads whose β of the mean changes as the head is changed, all studies that ask it ({known}): "
            + "; ".join(found)
        )
    heads = " or ".join(sorted({str(int(each)) for each in compared["heads"].values}))
    worth = [
        f"{words} {spread(compared['effective_heads'].sel(statistic=name).values, 1)}"
        for name, words in STATISTIC_NAMES.items()
    ]
    lines["shared_noise"] = (
        f"in the noise of its errors a layer counts as {', '.join(worth)} independent heads, of {heads}"
    )
    return lines


def places(data: xr.Dataset, name: str, dims: tuple[str, ...]) -> Iterator[tuple[str, xr.Dataset]]:
    """Where a number is known: in words, and there."""
    there = [dim for dim in dims if dim in data[name].dims]
    stacked = data.stack(row=there) if there else data.expand_dims("row")
    for place in range(stacked.sizes["row"]):
        one = stacked.isel(row=place)
        if np.isfinite(one[name]):
            labels = (str(one[dim].item()) for dim in there)
            yield ", ".join(WORDS.get(label, label) for label in labels), one


def listed(data: xr.Dataset, name: str, dims: tuple[str, ...]) -> Iterator[str]:
    return (f"{words} {within(*Estimate.of(one, name))}" for words, one in places(data, name, dims))


def answer_rows(compared: xr.Dataset) -> Iterator[tuple[str, ...]]:
    """Every number that answers a question, with both intervals, in the order of the questions."""
    for name, question in QUESTIONS.items():
        if name in compared:
            for words, one in places(compared[[each for each in compared if str(each).startswith(name)]], name, DIMS):
                digits = 0 if name in ("models_needed", "heads_changed") else 2
                both = (interval(one, f"{name}{of}") for of in ("", "_layers"))
                yield question, words, f"{float(one[name]):.{digits}f}".replace("-", "−"), *both


def interval(one: xr.Dataset, name: str) -> str:
    ends = [float(one[f"{name}_{end}"]) for end in ("low", "high") if f"{name}_{end}" in one]
    return " to ".join(signed(end).lstrip("+") for end in ends) if np.isfinite(ends).all() else ""


def heads_table(compared: xr.Dataset) -> pd.DataFrame:
    """One row a head and study: couplings, tails, and of each statistic error, tokens needed, rate with interval."""
    heads = compared[list(OF_HEAD)].assign(effective_rank=compared["participation_ratio"])
    heads["kurtosis"] = compared["kurtosis"].isel(direction=0, drop=True)
    for statistic in COMPARED:
        of = compared.sel(statistic=statistic, drop=True)
        heads = heads.assign({f"{name.replace('needed', '5')}_{statistic}": of[name] for name in OF_FIT})
    table = flat(heads.drop_vars(["model_of_study", "text_of_study"]), "study", "layer", "head")
    table = table[table["horizon"].notna()]  # heads that the model has
    for place, name in enumerate(("model", "text"), 1):
        of_study = dict(zip(compared["study"].values, compared[f"{name}_of_study"].values, strict=True))
        table.insert(place, name, table["study"].map(of_study))
    return table


def study_facts(compared: xr.Dataset) -> dict[str, str]:
    """Model, text and population of each study."""
    facts = {}
    for name in map(str, compared["study"].values):
        model, text = (str(compared[f"{what}_of_study"].sel(study=name).item()) for what in ("model", "text"))
        facts[name] = f"{model} on {text}, {compared.attrs['studies'][name]['population']:,} tokens"
    return facts
