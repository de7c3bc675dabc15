"""The page of rates shows the fits of the error, rounded, and tables of no store have no rows."""

import pandas as pd

from attnlimit.stats.table import COLUMNS, SHOWN, joined, shown


def fit(**facts) -> dict:
    numbers = {"beta": 0.43961, "beta_low": 0.4, "beta_high": 0.5, "horizon": 0.4257, "bound_v3": 0.00352}
    marks = {"misfit": False, "saturated": True, "limit_uncertain": False}
    where = {"source": "heads", "layer": 3, "head": "5", "statistic": "cov", "part": "error"}
    return dict.fromkeys(COLUMNS) | numbers | marks | where | facts


def test_a_row_for_people():
    nan = float("nan")
    table = pd.DataFrame(
        [
            fit(),
            fit(part="bias"),
            fit(head="all", horizon=nan, bound_v3=nan, saturated=False),
            fit(source="sphere", setting="radius 2", misfit=True, limit_uncertain=True),
        ]
    )
    rows = list(shown(table))
    assert rows == [
        ("heads", "layer 3, head 5", "cov", "0.440", "0.400", "0.500", "0.426", "0.004", "saturated"),
        ("heads", "layer 3, whole", "cov", "0.440", "0.400", "0.500", "", "", ""),
        ("sphere", "radius 2", "cov", "0.440", "0.400", "0.500", "0.426", "0.004")
        + ("no power law, saturated, limit uncertain",),
    ]
    assert {len(row) for row in rows} == {len(SHOWN)}


def test_no_store_gives_a_table_without_rows():
    table = joined([], "default")
    assert list(table.columns) == COLUMNS and len(table) == 0
    assert list(shown(table)) == []
