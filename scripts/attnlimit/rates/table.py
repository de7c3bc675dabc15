"""The fits as a table, one row each, for a spreadsheet."""

from pathlib import Path

import pandas as pd
import xarray as xr

from attnlimit.coordinates import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.files import atomic
from attnlimit.rates.complexity import SHARES
from attnlimit.rates.fits import COUPLINGS, PREDICTIONS, TOKENS
from attnlimit.rates.power_law import LOCAL

FIT = ("beta", "beta_low", "beta_high", "se", "se_scaled", "intercept", "chi2", "dof", "misfit")
SCALE = ("relative_error", "saturated", "limit_se")
COMPLEXITY = {  # column: (eps, variable); n(10 %) is tokens_10
    name.replace("tokens", f"tokens_{100 * share:.0f}"): (share, name) for share in SHARES for name in TOKENS
}
WHERE = ("source", "layer", "head", "setting", "statistic", "part")
RUN = ("n_min", "n_max", "replicates", "population")
LABELS = ("dimension", "isotropic", "exact", "scale", "published", "attended", "of_layer", "of_head", "alpha")
COLUMNS = [
    *(*WHERE, *FIT, *(f"last_{name}" for name in LOCAL), *SCALE, *COMPLEXITY),
    *(*COUPLINGS, *PREDICTIONS, *RUN, *LABELS),
]


def rates_table(rates: xr.Dataset) -> pd.DataFrame:
    """Every fit that exists, with COLUMNS: by layer and head (`all`: the whole layer) or by setting of a simulation.

    Of the local slopes, only that between the two largest sizes; n(eps) in the rows of the error itself.
    """
    known = [name for name in (*FIT, *SCALE, *COUPLINGS, *PREDICTIONS, *LABELS) if name in rates]
    last = {f"last_{name}": rates[name].isel(interval=-1) for name in LOCAL}
    error = rates["part"].values[:1]  # the first of PARTS; the other rows stay empty
    tokens = {
        column: rates[name].sel(eps=share, drop=True).expand_dims(part=error)
        for column, (share, name) in COMPLEXITY.items()
        if name in rates
    }
    table = rates[known].assign(last | tokens).to_dataframe().reset_index()
    table = table[table["beta"].notna()].assign(
        source=rates.attrs["source"],
        n_min=int(rates["n"][0]),
        n_max=int(rates["n"][-1]),
        replicates=rates.attrs["replicates"],
        population=rates.attrs.get("population"),
    )
    table["statistic"] = table["statistic"].map(dict(enumerate(STATISTICS)))
    table["part"] = table["part"].map(dict(enumerate(PARTS)))
    if "head" in table:
        table["head"] = table["head"].map(lambda head: "all" if head == WHOLE_LAYER else str(head))
    if "setting" in table:
        table["setting"] = table["setting"].map(dict(enumerate(rates.attrs["settings"])))
    return table.reindex(columns=COLUMNS)


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.8g", lineterminator="\n")
