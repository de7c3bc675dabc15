"""The atlas as tables: one row a head for a spreadsheet, one row a model for the page."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.base.words import words_of
from attnlimit.questions.atlas.columns import COLUMNS
from attnlimit.questions.atlas.compare import PROTOCOLS, rows_of
from attnlimit.stats.estimate import Estimate

SHORT = {
    "uniform": "random keys",
    "sink_recent": "first and nearest kept",
    "window": "nearest",
    "top": "largest weights",
}
WHAT = (
    "Medians over the heads of each model, with 95 % intervals over windows of text for keys, 5 % and 95 % quantiles "
    "over heads for H. Keys are those that a query reads for an error of 5 %, kept ones included; every head is in "
    "atlas.csv. First order over measured: of heads and protocols where both are at most the largest n and first order "
    "is reliable. Its columns: {}."
).format("; ".join(f"{name}, {words_of(name, COLUMNS)[0]}" for name in COLUMNS))
SUMMARY = ("model", "heads", "H", *(f"{words}, keys for 5 %" for words in SHORT.values()), "first order over measured")


def atlas_table(compared: xr.Dataset) -> pd.DataFrame:
    """One row a head, with COLUMNS."""
    rows = compared.drop_dims(["model", "protocol", "quantity"]).drop_vars("row").to_dataframe().reset_index(drop=True)
    return rows.rename(columns={"model_of_head": "model"})[list(COLUMNS)]


def model_rows(compared: xr.Dataset) -> Iterator[tuple[str, ...]]:
    """What the page shows of each model."""
    for name in map(str, compared["model"].values):
        own = compared.sel(model=name)
        horizon = Estimate(*np.quantile(rows_of(compared, name)["horizon"], (0.5, 0.05, 0.95)))
        keys = (median_keys(own, each) for each in PROTOCOLS)
        ratio = Estimate.of(own, "first_order_ratio")
        yield name, f"{int(own['heads'])}", span(horizon), *keys, span(ratio)


def median_keys(model: xr.Dataset, protocol: str) -> str:
    """Keys that the median head of a model needs, with the interval, in whole keys."""
    keys = Estimate.of(model, "median_keys", protocol=protocol)
    fewest, most = (float(model[name].sel(protocol=protocol)) for name in ("fewest_keys", "most_keys"))
    if not np.isfinite(keys.value):
        return "not reached"
    if keys.value <= fewest * (1 + 1e-9):  # exp(log n) may exceed n
        return f"at most {fewest:,.0f}"
    within = f" [{keys.low:,.0f}, {keys.high:,.0f}]" if np.isfinite([keys.low, keys.high]).all() else ""
    return f"{keys.value:,.0f}{within}{' extrapolated' if keys.value > most else ''}"


def span(number: Estimate, digits: int = 2) -> str:
    """A number with its interval; "–" for none."""
    if not np.isfinite(number.value):
        return "–"
    ends = f" [{number.low:.{digits}f}, {number.high:.{digits}f}]" if np.isfinite(number.low) else ""
    return f"{number.value:.{digits}f}{ends}".replace("-", "−")


def atlas_facts(compared: xr.Dataset) -> dict[str, str]:
    """Shape, kind, text and context of each model."""
    facts = {}
    for name in map(str, compared["model"].values):
        own, rows = compared.sel(model=name), rows_of(compared, name)
        kind = "a language model" if rows["causal"].values[0] else "an encoder"
        layers, heads = int(own["layers"]), int(own["heads"])
        where = f"{rows['text'].values[0]}, context {int(rows['context'].values[0]):,}"
        facts[name] = f"{kind}, {layers} layers of {heads // layers} heads, on {where}"
    return facts
