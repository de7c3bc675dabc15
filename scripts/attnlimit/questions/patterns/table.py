"""How many keys are enough, by layer and pattern: a table for a spreadsheet and for the page."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.stats.estimate import ENDS
from attnlimit.stats.table import flat

WHAT = (
    "Keys that a query reads until the error of sparse attention is 10 % or 5 % of its scale, medians over heads, with "
    "95 % intervals from resampling blocks. > n: not reached at n, the largest budget measured that leaves an error. "
    "≤ n: reached at the smallest budget. Rate: of the error as a power of 1/n within the block, which means little "
    "where heads have no power law."
)
WHERE = ("layer", "statistic", "pattern")
SHOWN = ("layer", "error of", "pattern", "keys for 10 %", "keys for 5 %", "rate", "heads without a power law")


def budgets_table(rates: xr.Dataset) -> pd.DataFrame:
    """One row for each layer, statistic and pattern: medians over heads.

    keys_10, keys_5, with _low and _high: keys until the error is that share of its scale; inf if it is not at any
    budget that leaves an error, of which `largest` is the last; the `smallest` budget: at most that many.  heads_10,
    heads_5: heads that reach it.  beta: rate within the block;  no_power_law: heads whose error has none.
    """
    known = rates["median_value"].notnull()
    columns = {"largest": rates["n"].where(known).max("n"), "smallest": rates["n"].where(known).min("n")}
    columns |= {"heads": xr.full_like(columns["largest"], rates.sizes["head"])}
    for share in rates["eps"].values:
        name = f"{100 * share:.0f}"
        columns |= {f"keys_{name}{end}": rates[f"median_budget{end}"].sel(eps=share) for end in ENDS}
        columns[f"heads_{name}"] = (rates["budget"].sel(eps=share) < np.inf).sum("head")
    columns |= {"beta": rates["beta"].median("head"), "no_power_law": rates["misfit"].sum("head")}
    dataset = xr.Dataset({name: column.drop_vars("eps", errors="ignore") for name, column in columns.items()})
    return flat(dataset, *WHERE)


def shown(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Rows for people: budgets with their intervals."""
    for _, row in table.iterrows():
        keys = [spoken(row, name) for name in ("10", "5")]
        marks = f"{row['no_power_law']:.0f} of {row['heads']:.0f}"
        yield str(row["layer"]), row["statistic"], row["pattern"], *keys, f"{row['beta']:.2f}", marks


def spoken(row: pd.Series, name: str) -> str:
    """218 [205, 233];  > 312 where it is not reached;  ≤ 16 where the smallest budget is enough;  218 of one block."""
    keys = [row[f"keys_{name}{end}"] for end in ENDS]
    if keys[0] == row["smallest"]:
        return f"≤ {keys[0]:.0f}"
    budget, low, high = (f"> {row['largest']:.0f}" if np.isinf(each) else f"{each:.0f}" for each in keys)
    return f"{budget} [{low}, {high}]" if np.isfinite(keys[1]) else budget
