"""Keys that heads need, as a table and in the formats of other tools."""

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.attention.key_protocols import SAMPLED
from attnlimit.questions.keys.first_order import FACTS
from attnlimit.stats.complexity import tokens_needed

EPS = 0.05
PRUNED = np.arange(1, 100) / 100  # global ratios of LUKVPress


def keys_table(fits: xr.Dataset, context: int) -> pd.DataFrame:
    """One row a query head: its KV head, how it spreads its weights, by protocol n(5 %) measured and by first order.

    reliable_…: whether the first order may be used;  share_…: of the keys not kept, that a cache needs.
    """
    at = fits.sel(eps=EPS, context=context)
    columns = {name: at[name] for name in FACTS if name != "largest_mass"}
    columns |= {f"mass_{number}": at["largest_mass"].sel(largest=number, drop=True) for number in at["largest"].values}
    names = {
        "keys": "keys",
        "first_order_keys": "first_order",
        "first_order_reliable": "reliable",
        "cache_share": "share",
    }
    for protocol in at["protocol"].values:
        for name, short in names.items():
            if name == "keys" or protocol in SAMPLED:
                columns[f"{short}_{protocol}"] = at[name].sel(protocol=protocol, drop=True)
        if protocol in SAMPLED:
            columns[f"beta_{protocol}"] = at["beta"].sel(protocol=protocol, drop=True)
    plain = {name: column.drop_vars(("eps", "context"), errors="ignore") for name, column in columns.items()}
    table = xr.Dataset(plain).to_dataframe(dim_order=["layer", "head"]).reset_index()
    return table[["layer", "head", "kv_head", *columns]].dropna(axis=1, how="all")


def by_kv_head(cells: xr.DataArray) -> xr.DataArray:
    """The largest number over the query heads that read a KV head: (…, head) -> (…, kv_head)."""
    return cells.groupby("kv_head").max()


def budgets_table(fits: xr.Dataset) -> pd.DataFrame:
    """One row a KV head: keys that a query reads for 5 %, kept ones included, by protocol; inf: not reached."""
    kept = fits["budget"].isel(n=0) - fits["n"].values[0]
    budgets = by_kv_head((fits["keys"].sel(eps=EPS, drop=True) + kept).drop_vars("n", errors="ignore"))
    columns = {str(name): budgets.sel(protocol=name, drop=True) for name in budgets["protocol"].values}
    return xr.Dataset(columns).to_dataframe(dim_order=["layer", "kv_head"]).reset_index()


def prune_ratios(fits: xr.Dataset, context: int) -> np.ndarray:
    """Share of its keys that each KV head may drop so that all have the same error under `top`: (99, layer, kv_head).

    At global ratio r the wanted error is such that the mean of the shares is r. Budgets between those measured are
    interpolated; below the smallest, a head's curve is extrapolated with its first slope; 1 key is always kept.
    """
    curve = fits["rms"].sel(protocol="top", drop=True).transpose("layer", "head", "n")
    budget = fits["budget"].sel(protocol="top").values.astype(float)
    seen = budget < context  # beyond, all keys are read and the error is 0
    if seen.sum() < 2:
        raise ValueError(
            f"measure_keys.sizes: fewer than 2 budgets of `top` below the context {context}; add smaller ones"
        )
    logs, places = np.log(curve.values[..., seen]), np.log(budget[seen])
    one_key = logs[..., :1] - (logs[..., 1:2] - logs[..., :1]) / (places[1] - places[0]) * places[0]
    values = np.exp(np.concatenate([one_key, logs, logs[..., -1:] - 10], -1))  # all keys: far below any other error
    sizes = np.array([1.0, *budget[seen], context])

    first_of_group = np.unique(fits["kv_head"].values, return_index=True)[1]  # heads of a group stand together

    def dropped(level: float) -> np.ndarray:
        needed = tokens_needed(sizes, values, np.full(values.shape[:-1], level))
        return 1 - np.maximum.reduceat(np.minimum(needed, context), first_of_group, axis=1) / context

    found = []
    for ratio in PRUNED:
        low, high = np.log(values.min()), np.log(values.max())
        for _ in range(40):  # the mean share rises with the allowed error
            middle = (low + high) / 2
            low, high = (middle, high) if dropped(np.exp(middle)).mean() < ratio else (low, middle)
        found.append(dropped(np.exp(high)))
    return np.stack(found)


def full_attention(fits: xr.Dataset, context: int) -> np.ndarray:
    """How much a KV head needs the keys between the first and the last: the share of them for 5 %, (layer, kv_head).

    0: first and last keys are enough, a streaming head;  1: all are needed.
    """
    share = fits["cache_share"].sel(eps=EPS, context=context, protocol="sink_recent", drop=True)
    return by_kv_head(share).transpose("layer", "kv_head").values
