"""The fits as a table, one row each, for a spreadsheet."""

from pathlib import Path

import pandas as pd
import xarray as xr

from attnlimit.files import atomic
from attnlimit.names import PARTS, STATISTICS, WHOLE_LAYER

FIT = ["beta", "beta_low", "beta_high", "se", "se_scaled", "intercept", "chi2", "dof", "misfit"]
SCALE = ["relative_error", "saturated"]
COUPLING = ["horizon", "horizon_one_sided", "horizon_frobenius", "psi", "horizon_published"]
PREDICTION = ["bound_v3", "bound_v1_experiment", "bound_v1_theorem", "heuristic"]
COLUMNS = [
    *("source", "layer", "head", "statistic", "part", *FIT, *SCALE, *COUPLING, *PREDICTION),
    *("n_min", "n_max", "replicates", "population"),
]


def rates_table(rates: xr.Dataset, source: str) -> pd.DataFrame:
    """Every fit that exists, with COLUMNS; head `all` is the whole layer, which has no coupling of its own."""
    table = rates[[*FIT, *SCALE, *COUPLING, *PREDICTION]].to_dataframe().reset_index()
    table = table[table["beta"].notna()]
    return table.assign(
        source=source,
        statistic=table["statistic"].map(dict(enumerate(STATISTICS))),
        part=table["part"].map(dict(enumerate(PARTS))),
        head=table["head"].map(lambda head: "all" if head == WHOLE_LAYER else str(head)),
        n_min=int(rates["n"][0]),
        n_max=int(rates["n"][-1]),
        replicates=rates.attrs["replicates"],
        population=rates.attrs["population"],
    )[COLUMNS]


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.8g", lineterminator="\n")
