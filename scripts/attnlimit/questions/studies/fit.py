"""Several studies compared: what is asked of them, each with two intervals, in one dataset."""

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from attnlimit.questions.studies.gather import CHANGE, COMPARED
from attnlimit.questions.studies.intervals import Twice, without_each
from attnlimit.questions.studies.measures import COMPONENTS, agreement, components, effective_heads, order
from attnlimit.questions.studies.values import Values, values_of
from attnlimit.sources.corpus.location import text_name

LIKE = {"layer": "layers", "n": "measure_errors.sizes"}  # of the texts of one model: dimension, key
COUPLINGS = {"H": "horizon", "s0": "constant_tilt"}
RAW = ("error", "limit_scale", *CHANGE)  # not handed on: they are in the gathered stores
MOST_MODELS = 1000
DIRECTIONS = ("fell", "rose", "open")  # of beta


def compare(
    studies: dict[str, xr.Dataset], sub_gaussian_factor: float, wanted_reach: float, stream: np.random.Generator
) -> xr.Dataset:
    """The heads of all studies, and what is asked of them; studies: by name, as `gather` makes them."""
    models = by_model(studies)
    asked = []
    for model, names in models.items():
        require_like(names, studies)
        asked.append(asked_of_model([studies[name] for name in names], stream).expand_dims(model=[model]))
    of_models = xr.concat(asked, "model", join="outer", data_vars="all", fill_value=np.nan)
    names = [name for each in models.values() for name in each]  # model by model
    of_studies = [asked_of_study(studies[name], sub_gaussian_factor) for name in names]
    parts = [
        joined({name: studies[name] for name in names}, models),
        on_scale(of_models).assign(models_needed=needed(of_models["order"], wanted_reach)),
        xr.concat(of_studies, xr.Variable("study", names), join="outer"),
    ]
    merged = xr.merge(parts, join="outer", compat="no_conflicts").sel(study=names, model=list(models))
    return merged.assign(sub_gaussian_factor=sub_gaussian_factor)


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
    """The studies of a model have the same layers and sizes: an error at another n is another quantity."""
    for name, (dimension, key) in ((name, each) for name in names for each in LIKE.items()):
        one, other = (studies[each][dimension].values.tolist() for each in (names[0], name))
        if one != other:
            raise ValueError(
                f"compare_studies.studies: {names[0]} and {name} are of one model but differ in {key}; run both with "
                "the same, or leave one out"
            )


def joined(studies: dict[str, xr.Dataset], models: dict[str, list[str]]) -> xr.Dataset:
    """Numbers of all heads, (study, layer, head, …); NaN for heads that a model does not have, and no marks on them."""
    heads = [study.drop_vars([*RAW, "n", "replicate", "variant"], errors="ignore") for study in studies.values()]
    flags = [str(name) for name, array in heads[0].items() if array.dtype == bool]  # which know no NaN
    heads = [study.assign({name: study[name].astype(float) for name in flags}) for study in heads]
    both = xr.concat(heads, xr.Variable("study", list(studies)), join="outer")
    of = {name: model for model, names in models.items() for name in names}
    return both.assign({name: both[name] == 1 for name in flags}).assign_coords(
        model_of_study=("study", [of[name] for name in studies]),
        text_of_study=("study", [text_name(study.attrs["corpus"]) for study in studies.values()]),
    )


def asked_of_model(texts: list[xr.Dataset], stream: np.random.Generator) -> xr.Dataset:
    """Agreement between texts and shares of the variance, if it has several; order by couplings, on Fisher's scale."""
    found = []
    for name, values in values_of(texts, stream).items():
        numbers: dict = {"heads_compared": ((), len(values.layer))}
        if len(texts) > 1:
            kept, reliability = agreement(values)
            shares = components(values)
            numbers |= kept.variables("agreement") | {"reliability": ((), reliability)}
            numbers |= Twice(*(part[:-1] for part in shares)).variables("variance_share", "component")
            numbers |= Twice(*(part[-1] for part in shares)).variables("head_margin")
        if name != "horizon":
            orders = [order(values, couplings_of(texts, of, values)) for of in COUPLINGS.values()]
            numbers |= Twice(*map(np.array, zip(*orders, strict=True))).variables("order", "coupling")
        coords = {"component": list(COMPONENTS), "coupling": list(COUPLINGS)}
        found.append(xr.Dataset(numbers, coords=coords).expand_dims(quantity=[name]))
    return xr.concat(found, "quantity", join="outer", data_vars="all")


def couplings_of(texts: list[xr.Dataset], name: str, values: Values) -> np.ndarray:
    """(text, head), of the heads that are compared."""
    return np.stack([text[name].transpose("layer", "head").values.ravel()[values.head] for text in texts])


def on_scale(of_models: xr.Dataset) -> xr.Dataset:
    """Orders brought back from Fisher's scale to correlations."""
    names = [name for name in of_models if str(name).startswith("order")]
    return of_models.assign({name: np.tanh(of_models[name]) for name in names})


def needed(order: xr.DataArray, reach: float) -> xr.DataArray:
    """Models for which Student's interval over models, t(k - 1) sd / sqrt(k), has at most this half-width.

    order: by model, on Fisher's scale; sd that over the models at hand, which two of them hardly know: an order of
    magnitude.  NaN with one model, or if MOST_MODELS are not enough.
    """
    counts = np.arange(2, MOST_MODELS)
    factor = xr.DataArray(stdtrit(counts - 1, 0.975) / np.sqrt(counts), {"count": counts}, ["count"])
    one = order.sizes["model"] < 2
    spread = order.isel(model=0, drop=True) * np.nan if one else order.std("model", ddof=1, skipna=False)
    enough = factor * spread <= reach
    return enough["count"].where(enough).min("count")


def asked_of_study(study: xr.Dataset, factor: float) -> xr.Dataset:
    """Heads that see sub-Gaussian tokens, and how many independent heads the layers are worth, at the largest n."""
    proxy = study["sub_gaussian"].transpose("layer", "head").values
    layer, within = np.repeat(np.arange(len(proxy)), proxy.shape[1]), (proxy <= factor).ravel()
    left = without_each(layer, lambda use: within[use].mean())
    share = Twice.of(within.mean(), 0.0, 2, left).map(lambda end: np.clip(end, 0, 1))  # exact: no replicate enters
    found = share.variables("sub_gaussian_share")
    squares = study["error"].isel(n=-1).transpose("statistic", "layer", "head", "replicate").values ** 2
    together = [effective_heads(of) for of in squares]
    layers = [[effective_heads(layer[None])[:3] for layer in of] for of in squares]
    found |= Twice(*map(np.array, zip(*together, strict=True))).variables("effective_heads", "statistic")
    ends = np.moveaxis(np.array(layers), -1, 0)  # (end, statistic, layer)
    found |= {
        f"layer_heads{end}": (("statistic", "layer"), ends[place]) for place, end in enumerate(("", "_low", "_high"))
    }
    found["heads"] = ((), proxy.shape[1])
    asked = xr.Dataset(found, coords={"statistic": COMPARED, "layer": study["layer"].values})
    return asked.merge(interventions(study)) if CHANGE[0] in study else asked


def interventions(study: xr.Dataset) -> xr.Dataset:
    """Heads whose beta surely fell, surely rose, or neither, by variant of the heads: by each one's 95 % interval."""
    value, low, high = (study[name] for name in CHANGE)
    changed = study.isel(variant=(value != 0).any(["layer", "statistic", "head"]).values)["variant"]  # not: as it is
    fell, rose = high < 0, low > 0
    counts = [part.sel(variant=changed).sum(["layer", "head"]) for part in (fell, rose, ~(fell | rose))]
    return xr.Dataset({"heads_changed": xr.concat(counts, xr.Variable("direction_of_change", list(DIRECTIONS)))})
