"""Several studies compared: what is asked of them, with intervals, in one dataset."""

from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.base.coordinates import heads_only, whole_layer
from attnlimit.questions.studies.agreement import level_agreement, order_agreement, pairs_of
from attnlimit.questions.studies.components import COMPONENTS, variance_components
from attnlimit.questions.studies.gather import COMPARED
from attnlimit.questions.studies.layers import leave_out_layers, rows_of
from attnlimit.questions.studies.orders import COUPLINGS, order_of_model, order_over_models
from attnlimit.questions.studies.shared_noise import effective_heads, mean_correlation, own_share
from attnlimit.sources.corpus.location import text_name
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.order import no_evidence
from attnlimit.stats.table import flat

MARKS = ("misfit", "saturated", "limit_uncertain")
LIKE = {"layer": "layers", "n": "measure_errors.sizes"}  # of the texts of one model: dimension, key
PAIR = ("first", "second")  # studies of a pair
RAW = ("error", "beta_half")  # not handed on: they are in the gathered stores


def compare(studies: dict[str, xr.Dataset], weakest_horizon: float, sub_gaussian_factor: float) -> xr.Dataset:
    """The heads of all studies, and what is asked of them; studies: by name, as `gathered.gather` makes them."""
    models, whole = by_model(studies), studies
    studies = {name: heads_only(study) for name, study in studies.items()}
    for names in models.values():
        require_like(names, studies)
    parts = [
        joined(studies, models),
        tails_of(studies, sub_gaussian_factor),
        shared_noise(whole),
        agreements(studies, models),
        orders(studies, models, weakest_horizon),
    ]
    order = [name for names in models.values() for name in names]  # model by model
    return xr.merge(parts, join="outer", compat="no_conflicts").sel(study=order, model=list(models))


def model_of(study: xr.Dataset) -> tuple[str, str]:
    """What tells models apart: name, and sha256 of the weights (of all files of the model that are no .json)."""
    model = study.attrs["model"]
    weights = [digest for name, digest in sorted(model["sha256"].items()) if not name.endswith(".json")]
    return model.get("title") or model["name"].split("/")[-1], " ".join(weights)


def by_model(studies: dict[str, xr.Dataset]) -> dict[str, list[str]]:
    """Names of the studies of each model, by the model's name; of two models of one name, with some of their sha256."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, study in studies.items():
        found.setdefault(model_of(study), []).append(name)
    titles = [title for title, _ in found]
    return {
        title if titles.count(title) == 1 else f"{title} {digest[:8]}": names
        for (title, digest), names in found.items()
    }


def require_like(names: list[str], studies: dict[str, xr.Dataset]) -> None:
    """The studies of a model have the same layers and sizes: a rate over other n is another quantity."""
    for name, (dimension, key) in ((name, each) for name in names for each in LIKE.items()):
        one, other = (studies[each][dimension].values.tolist() for each in (names[0], name))
        if one != other:
            raise ValueError(
                f"compare_studies.studies: {names[0]} and {name} are of one model but differ in {key}; run both with "
                "the same, or leave one out"
            )


def joined(studies: dict[str, xr.Dataset], models: dict[str, list[str]]) -> xr.Dataset:
    """Numbers of all heads, (study, layer, head, …); NaN for heads that a model does not have, and no marks on them."""
    heads = [study.drop_vars([*RAW, "n", "replicate"], errors="ignore") for study in studies.values()]
    flags = [str(name) for name, array in heads[0].items() if array.dtype == bool]  # which know no NaN
    heads = [study.assign({name: study[name].astype(float) for name in flags}) for study in heads]
    both = xr.concat(heads, xr.Variable("study", list(studies)), join="outer")
    of = {name: model for model, names in models.items() for name in names}
    return both.assign({name: both[name] == 1 for name in flags}).assign_coords(
        model_of_study=("study", [of[name] for name in studies]),
        text_of_study=("study", [text_name(study.attrs["corpus"]) for study in studies.values()]),
        model=list(models),
    )


def table(study: xr.Dataset, statistic: str) -> pd.DataFrame:
    """Fits of the error of one statistic, one row a head, by layer."""
    fits = study[["beta", *MARKS, "horizon", "constant_tilt"]].sel(statistic=statistic, part="error")
    return flat(fits, "layer", "head")


def tails_of(studies: dict[str, xr.Dataset], factor: float) -> xr.Dataset:
    """Share of heads whose tokens have a variance proxy of at most `factor` covariances; layers are left out."""

    def share(study: xr.Dataset) -> Estimate:
        proxy = study["sub_gaussian"].transpose("layer", "head").values
        layer = np.repeat(np.arange(len(proxy)), proxy.shape[1])
        rows, within = rows_of(layer), (proxy <= factor).ravel()
        found, _ = leave_out_layers(np.unique(layer), lambda chosen: within[rows(chosen)].mean())
        return found.map(lambda part: np.clip(part, 0, 1))

    found = Estimate.stack([share(study) for study in studies.values()])
    shares = xr.Dataset(found.variables("sub_gaussian_share", "study"), coords={"study": list(studies)})
    return shares.assign(sub_gaussian_factor=factor)


def shared_noise(studies: dict[str, xr.Dataset]) -> xr.Dataset:
    """Effective heads of each layer, and of all layers of a study together, at each n."""
    parts = []
    for study in studies.values():
        error = study["error"].transpose("layer", "statistic", "head", "replicate", "n")
        squares, whole = (select(error).values ** 2 for select in (heads_only, whole_layer))
        dims = ("layer", "statistic", "n")
        layers = Estimate.stack([Estimate.stack([effective_heads([unit]) for unit in layer]) for layer in squares])
        together = Estimate.stack([effective_heads(list(each)) for each in squares.swapaxes(0, 1)])
        found = layers.variables("effective_heads", dims) | together.variables("effective_heads_overall", dims[1:])
        correlation = [[mean_correlation(unit) for unit in layer] for layer in squares]
        share = [list(map(own_share, layer, of_layer)) for layer, of_layer in zip(squares, whole, strict=True)]
        found |= {"noise_correlation": (dims, np.array(correlation)), "own_share": (dims, np.array(share))}
        found |= {"layers": ((), squares.shape[0]), "heads": ((), squares.shape[2])}
        parts.append(xr.Dataset(found, coords={name: study[name] for name in dims}))
    return xr.concat(parts, xr.Variable("study", list(studies)), join="outer")


def agreements(studies: dict[str, xr.Dataset], models: dict[str, list[str]]) -> xr.Dataset:
    """Agreement of rates and of horizons between the texts of each model that has several: by pair, and by model."""
    pairs, overall = [], []
    for model, names in models.items():
        if len(names) < 2:
            continue
        taken = [studies[name] for name in names]
        by_pair, by_model = horizons_agree(taken)
        rates = [rates_agree(taken, statistic) for statistic in COMPARED]
        by_pair = by_pair.merge(xr.concat([each[0] for each in rates], xr.Variable("statistic", COMPARED)))
        by_model = by_model.merge(xr.concat([each[1] for each in rates], xr.Variable("statistic", COMPARED)))
        ends = {end: ("pair", [names[two[place]] for two in pairs_of(len(names))]) for place, end in enumerate(PAIR)}
        pairs.append(by_pair.assign_coords(ends | {"model_of_pair": ("pair", [model] * by_pair.sizes["pair"])}))
        overall.append(by_model.expand_dims(model=[model]))
    if not pairs:
        return xr.Dataset()
    return xr.merge([xr.concat(pairs, "pair"), xr.concat(overall, "model")])


def shifts(name: str, values: np.ndarray, layer: np.ndarray) -> dict[str, tuple]:
    """Mean differences between the texts of a pair, with intervals, and those of all pairs at once."""
    each, together = level_agreement(values, layer)
    at_once = {f"{name}_all_low": ("pair", together.low), f"{name}_all_high": ("pair", together.high)}
    return each.variables(name, "pair") | at_once


def horizons_agree(texts: list[xr.Dataset]) -> tuple[xr.Dataset, xr.Dataset]:
    horizon = np.stack([study["horizon"].transpose("layer", "head").values.ravel() for study in texts])
    layer = np.repeat(texts[0]["layer"].values, texts[0].sizes["head"])
    found = order_agreement(horizon, layer)
    by_pair = found.pairs.variables("horizon_agreement", "pair") | shifts("horizon_shift", np.log(horizon), layer)
    return xr.Dataset(by_pair), xr.Dataset(found.overall.variables("horizon_agreement_overall"))


def rates_agree(texts: list[xr.Dataset], statistic: str) -> tuple[xr.Dataset, xr.Dataset]:
    """Over the heads whose fits are evidence in all texts."""
    fits = rates_of(texts, statistic)
    found = order_agreement(fits.beta, fits.layer, fits.halves)
    spread, shares = variance_components(fits.beta, fits.noise, fits.layer)
    by_pair = found.pairs.variables("agreement", "pair") | shifts("shift", fits.beta, fits.layer)
    by_model = found.overall.variables("agreement_overall") | found.reliability.variables("reliability")
    by_model |= found.corrected.variables("agreement_corrected")
    by_model |= shares.map(itemgetter(slice(-1))).variables("variance_share", "component")
    by_model |= shares.map(itemgetter(-1)).variables("head_margin")
    by_model |= {"variance_component": ("component", spread), "heads_compared": ((), len(fits.layer))}
    by_model["layers_compared"] = ((), len(np.unique(fits.layer)))
    return xr.Dataset(by_pair), xr.Dataset(by_model, coords={"component": list(COMPONENTS)})


class Rates(NamedTuple):
    """Of heads (head,) of one model on several texts."""

    layer: np.ndarray
    beta: np.ndarray  # (text, head)
    noise: np.ndarray  # (text, head): sampling variances
    halves: np.ndarray  # (text, split, half, head)


def rates_of(texts: list[xr.Dataset], statistic: str) -> Rates:
    """The heads whose fits are evidence in all texts: neither saturated nor to an uncertain limit."""
    tables = [table(study, statistic) for study in texts]
    use = ~np.any([no_evidence(fits) | fits["beta"].isna() for fits in tables], axis=0)
    layer = tables[0]["layer"].to_numpy()[use]
    if len(layer) < 2:
        raise ValueError(f"compare_studies: of {statistic}, fewer than two heads have a rate in all texts of a model")
    covariance = [study["beta_covariance"].sel(statistic=statistic) for study in texts]
    variance = [np.diagonal(each.transpose("layer", "head", "head_2").values, axis1=1, axis2=2) for each in covariance]
    halves = [
        study["beta_half"].sel(statistic=statistic).transpose("split", "half", "layer", "head").values
        for study in texts
    ]
    return Rates(
        layer,
        np.stack([fits["beta"].to_numpy()[use] for fits in tables]),
        np.stack([each.ravel()[use] for each in variance]),
        np.stack([each.reshape(*each.shape[:2], -1)[..., use] for each in halves]),
    )


def orders(studies: dict[str, xr.Dataset], models: dict[str, list[str]], weakest_horizon: float) -> xr.Dataset:
    """Rank correlations of beta with the couplings: by study, by model, over models."""
    parts = []
    for statistic in COMPARED:
        found = [
            order_of_model([table(studies[name], statistic) for name in names], weakest_horizon)
            for names in models.values()
        ]
        texts = Estimate(*map(np.concatenate, zip(*(each.texts for each in found), strict=True)))
        pooled = order_over_models(found)
        parts.append(
            xr.Dataset(
                texts.variables("order", ("study", "coupling"))
                | Estimate.stack([each.model for each in found]).variables("order_of_model", ("model", "coupling"))
                | {"fisher_se": (("model", "coupling"), np.stack([each.fisher_se for each in found]))}
                | Estimate.stack([each.mean for each in pooled]).variables("order_over_models", "coupling")
                | {"order_between_models": ("coupling", [each.between for each in pooled])},
                coords={"study": [name for names in models.values() for name in names], "model": list(models)}
                | {"coupling": list(COUPLINGS)},
            )
        )
    return xr.concat(parts, xr.Variable("statistic", COMPARED))
