"""The fits as a table, one row each, for a spreadsheet."""

from pathlib import Path

import pandas as pd
import xarray as xr

from attnlimit.coordinates import is_whole, whole_layer
from attnlimit.files import atomic
from attnlimit.rates.fits import COUPLINGS, PREDICTIONS
from attnlimit.rates.power_law import LOCAL

FIT = ("beta", "beta_low", "beta_high", "se", "se_scaled", "intercept", "chi2", "dof", "misfit")
SCALE = ("relative_error", "saturated", "limit_se")
WHERE = ("source", "layer", "head", "setting", "statistic", "part")
RUN = ("n_min", "n_max", "replicates", "population")
LABELS = (
    "dimension",
    "isotropic",
    "exact",
    "scale",
    "published",
    "attended",
    "of_layer",
    "of_head",
    "alpha",
    "tilt_factor",
)
COLUMNS = [*WHERE, *FIT, *(f"last_{name}" for name in LOCAL), *SCALE, *COUPLINGS, *PREDICTIONS, *RUN, *LABELS]


def rates_table(rates: xr.Dataset) -> pd.DataFrame:
    """Every fit that exists, with COLUMNS: by layer and head (`all`: the whole layer) or by setting of a simulation.

    Of the local slopes, only that between the two largest sizes.
    """
    tables = [rows(rates)]
    if any(map(is_whole, rates.data_vars)):
        of_layer = {name: rates[name] for name in COUPLINGS if name in rates and "head" not in rates[name].dims}
        tables.append(rows(whole_layer(rates).assign(of_layer)).assign(head="all"))
    table = pd.concat(tables).assign(
        source=rates.attrs["source"],
        n_min=int(rates["n"][0]),
        n_max=int(rates["n"][-1]),
        replicates=rates.attrs["replicates"],
        population=rates.attrs.get("population"),
    )
    if "head" in table:
        table["head"] = table["head"].map(str)
    return table.reindex(columns=COLUMNS)


def rows(rates: xr.Dataset) -> pd.DataFrame:
    known = [name for name in (*FIT, *SCALE, *COUPLINGS, *PREDICTIONS, *LABELS) if name in rates]
    last = {f"last_{name}": rates[name].isel(interval=-1) for name in LOCAL}
    table = rates[known].assign(last).to_dataframe().reset_index()
    return table[table["beta"].notna()]


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.8g", lineterminator="\n")
