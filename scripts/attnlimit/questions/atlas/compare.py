"""Finished runs of one model each, side by side: one row a head, and medians of each model."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from attnlimit.attention.key_protocols import RELIABLE, SAMPLED
from attnlimit.sources.corpus.location import text_name
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.order import rank_correlations
from attnlimit.stats.student import jackknifed

EPS = 0.05
PROTOCOLS = ("uniform", "sink_recent", "window", "top")
ORDERS = {"error_horizon": ("horizon", "first_order_error"), "keys_depth": ("depth", "keys_uniform")}
HEADS = ("layer", "head")
FEWEST = 3  # layers for an interval over layers, heads for a rank correlation


def compare(entries: Mapping[str, tuple[xr.Dataset, xr.Dataset]], size: int) -> xr.Dataset:
    """What comes out: STORES in about.py.  entries: by name of the model, the stores rates/keys and atlas/couplings."""
    rows = [head_rows(name, fits, couplings, size) for name, (fits, couplings) in entries.items()]
    heads = xr.concat(rows, "row", join="exact")
    models = [of_model(own, fits) for own, (fits, _) in zip(rows, entries.values(), strict=True)]
    summary = xr.concat(models, "model", join="exact").assign_coords(model=list(entries))
    return heads.assign_coords(row=np.arange(heads.sizes["row"])).merge(summary, join="exact", compat="no_conflicts")


def head_rows(name: str, fits: xr.Dataset, couplings: xr.Dataset, size: int) -> xr.Dataset:
    """One model, by head (row,): the columns of atlas.csv.

    Keys that a query reads for an error of 5 % of S: n(5 %) plus those that the protocol keeps.  Error of n = size
    random keys by exact first order: sqrt(E c1 / n) / S.
    """
    if not fits["layer"].equals(couplings["layer"]):
        of_fits, own = (each["layer"].values.tolist() for each in (fits, couplings))
        raise ValueError(f"{name}: keys of layers {of_fits}, couplings of {own}; run it again to its end")
    context = fits.attrs["context"]
    at = fits.sel(eps=EPS, context=context)
    read, predicted = at["keys"] + kept_keys(fits), at["first_order_keys"] + kept_keys(fits)
    uniform = at.sel(protocol="uniform")
    columns: dict[str, xr.DataArray] = {
        "depth": couplings["depth"],
        "horizon": couplings["horizon"],
        "constant_tilt": couplings["constant_tilt"],
        "effective_keys": fits["effective_keys"],
        "first_weight": fits["first_weight"],
        "first_order_error": (uniform["first_order_keys"] * EPS**2 / size) ** 0.5,
        "first_order_reliable": (size >= RELIABLE * uniform["second_moment"]).astype(float),
    }
    columns |= {f"keys_{each}": read.sel(protocol=each) for each in PROTOCOLS}
    columns |= {f"first_order_keys_{each}": predicted.sel(protocol=each) for each in PROTOCOLS if each in SAMPLED}
    plain = {key: column.reset_coords(drop=True) for key, column in columns.items()}
    rows = xr.Dataset(plain).broadcast_like(plain["horizon"]).stack(row=HEADS).reset_index("row")  # depth by head, too
    count = rows.sizes["row"]
    rows = rows.assign(
        causal=("row", np.full(count, float(couplings.attrs["causal"]))), context=("row", np.full(count, context))
    )
    labels = {"model_of_head": name, "text": text_name(fits.attrs["corpus"])}
    return rows.assign_coords({key: ("row", [value] * count) for key, value in labels.items()})


def kept_keys(fits: xr.Dataset) -> xr.DataArray:
    """Keys that a query reads besides n, (protocol,)."""
    return (fits["budget"] - fits["n"]).isel(n=0, drop=True)


def of_model(rows: xr.Dataset, fits: xr.Dataset) -> xr.Dataset:
    """Of one model, with intervals over windows where keys are measured, over layers where heads are ranked."""
    at, protocols = fits.sel(eps=EPS, protocol=list(PROTOCOLS)), {"protocol": list(PROTOCOLS)}
    found: dict[str, tuple] = {}
    kept = kept_keys(at).values
    found |= Estimate.of(at, "median_keys").map(lambda part: part + kept).variables("median_keys", ("protocol",))
    for name, size in (("fewest_keys", fits["n"][0]), ("most_keys", fits["n"][-1])):
        found[name] = (("protocol",), kept + float(size))
    share = Estimate.of(at, "beyond").map(lambda part: np.clip(part, 0, 1))  # Student's interval may leave [0, 1]
    found |= share.variables("beyond", ("protocol",))
    found |= Estimate.of(fits, "median_first_order_ratio", eps=EPS).variables("first_order_ratio")
    usable = rows.isel(row=np.flatnonzero(rows["first_order_reliable"]))  # elsewhere first order says nothing
    ranked = {"error_horizon": usable, "keys_depth": rows}
    orders = [order(*(ranked[name][each].values for each in (x, y, "layer"))) for name, (x, y) in ORDERS.items()]
    found |= Estimate.stack(orders).variables("order", ("quantity",))
    counts = {"heads": ((), rows.sizes["row"]), "layers": ((), len(np.unique(rows["layer"])))}
    return xr.Dataset(found | counts, coords=protocols | {"quantity": list(ORDERS)})


def order(x: np.ndarray, y: np.ndarray, layer: np.ndarray) -> Estimate:
    """Spearman's rank correlation over heads (head,), with its interval over layers left out one at a time.

    With fewer than three layers there is no interval: two single layers may agree by chance, which would give width 0.
    """

    def among(layers: np.ndarray) -> np.ndarray:
        use = np.isin(layer, layers)
        return rank_correlations(x[use], y[use])

    layers = np.unique(layer)
    if len(x) < FEWEST:
        return Estimate(np.nan, np.nan, np.nan)
    found = jackknifed(layers, among) if len(layers) >= FEWEST else Estimate.without_interval(among(layers))
    return found.map(lambda part: np.clip(part, -1, 1))


def rows_of(compared: xr.Dataset, name: str) -> xr.Dataset:
    """The heads of one model."""
    return compared.isel(row=np.flatnonzero(compared["model_of_head"] == name))
