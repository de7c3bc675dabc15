"""The fits as a table, one row each, for a spreadsheet."""

from collections.abc import Hashable, Iterable
from pathlib import Path

import pandas as pd
import xarray as xr

from attnlimit.base.coordinates import WHOLE_LAYER
from attnlimit.base.files import atomic
from attnlimit.sources.corpus.location import text_name
from attnlimit.stats.complexity import SHARES, TOKENS
from attnlimit.stats.fits import COUPLINGS, PREDICTIONS
from attnlimit.stats.power_law import BETA, LOCAL

FIT = (*BETA, "se", "se_scaled", "intercept", "chi2", "dof", "misfit")
SCALE = ("relative_error", "saturated", "limit_se", "limit_se_share", "limit_uncertain")
COMPLEXITY = {  # column: (eps, variable); n(10 %) is tokens_10
    name.replace("tokens_needed", f"tokens_{100 * share:.0f}"): (share, name) for share in SHARES for name in TOKENS
}
WHERE = ("source", "layer", "head", "setting", "statistic", "part")
RUN = ("n_min", "n_max", "replicates", "population", "model", "corpus", "run")
LABELS = ("dimension", "isotropic", "exact", "scale", "published", "attended")
COLUMNS = [
    *(*WHERE, *FIT, *(f"last_{name}" for name in LOCAL), *SCALE, *COMPLEXITY),
    *(*COUPLINGS, *PREDICTIONS, *RUN, *LABELS),
]

MARKS = {"misfit": "no power law", "saturated": "saturated", "limit_uncertain": "limit uncertain"}


def rates_table(rates: xr.Dataset) -> pd.DataFrame:
    """Every fit that exists, with COLUMNS: by layer and head (`all`: the whole layer) or by setting of a simulation.

    Of the local slopes, only that between the two largest sizes; n(eps) in the rows of the error itself.
    """
    table = rows(rates).assign(
        source=rates.attrs["source"],
        n_min=int(rates["n"][0]),
        n_max=int(rates["n"][-1]),
        replicates=rates.attrs["replicates"],
        population=rates.attrs.get("population"),
        model=rates.attrs.get("model", {}).get("name"),
        corpus=text_name(rates.attrs.get("corpus", {})),
    )
    if "head" in table:
        table = table.sort_values("head", key=lambda head: head == WHOLE_LAYER, kind="stable")
        table["head"] = table["head"].map(str).replace(str(WHOLE_LAYER), "all")
    return table.reindex(columns=COLUMNS)


def flat(data: xr.Dataset, *dims: Hashable) -> pd.DataFrame:
    """One row for each place along the dimensions, in their order, with a column for each variable and label."""
    return data.to_dataframe(dim_order=list(dims)).reset_index()


def tokens_columns(rates: xr.Dataset) -> dict[str, xr.DataArray]:
    """n(eps) by eps, with its interval and whether it is extrapolated: tokens_10, tokens_10_low, …"""
    return {
        column: rates[name].sel(eps=share, drop=True) for column, (share, name) in COMPLEXITY.items() if name in rates
    }


def rows(rates: xr.Dataset) -> pd.DataFrame:
    known = [name for name in (*FIT, *SCALE, *COUPLINGS, *PREDICTIONS, *LABELS) if name in rates]
    last = {f"last_{name}": rates[name].isel(interval=-1) for name in LOCAL}
    tokens = {
        column: array.expand_dims(part=["error"]) for column, array in tokens_columns(rates).items()
    }  # of the error itself
    order = list(rates["beta"].dims)  # else that of a set, another in each process
    table = flat(rates[known].assign(last | tokens), *order)
    return table[table["beta"].notna()]


def joined(stores: Iterable[xr.Dataset], run: str) -> pd.DataFrame:
    """The fits of several stores of a run one after the other; of none, a table without rows."""
    tables = [rates_table(rates) for rates in stores]
    return (pd.concat(tables) if tables else pd.DataFrame(columns=COLUMNS)).assign(run=run)


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.8g", lineterminator="\n")
