"""The charts of the page: what they draw comes from its tables, which a browser and a spreadsheet read alike."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from attnlimit.page.explorer import SIGNALS, csv, explorer, in_script
from attnlimit.stats.complexity import BEYOND

SIZES = [64, 512, 4096]


@pytest.fixture(scope="module")
def made() -> dict:
    """Two layers of two heads; one needs more tokens than anyone can tell."""
    rows = [(layer, head, name) for layer in (0, 5) for head in (0, 1) for name in ("mean", "cov")]
    heads = pd.DataFrame(rows, columns=["layer", "head", "statistic"])
    heads = heads.assign(
        horizon=np.geomspace(0.2, 12, 8), beta=0.5, beta_low=0.4, beta_high=0.6, hollow=[True] + [False] * 7
    )
    heads = heads.assign(tokens_5=[np.inf, np.nan, *range(100, 106)])
    curves = heads[["layer", "head", "statistic"]].merge(pd.DataFrame({"n": SIZES}), how="cross")
    curves = curves.assign(error=0.1, error_low=0.09, error_high=0.11, fit=0.1, fit_low=0.1, fit_high=0.1)
    return explorer(heads, curves, None, {"5-1": {"horizon": "12"}}, (5, 1))


def test_a_table_reads_back_in_a_spreadsheet_and_names_what_a_browser_knows(made):
    text = made["tables"]["heads"]
    assert ",Infinity\n" in text and ",true," in text
    table = pd.read_csv(io.StringIO(text))
    assert table["hollow"].dtype == bool and table["tokens_5"].iloc[0] == np.inf and np.isnan(table["tokens_5"].iloc[1])
    assert csv(pd.DataFrame({"x": [1 / 3], "n": [4096]})) == "x,n\n0.33333,4096\n"


def test_every_chart_takes_its_data_from_the_page_and_follows_the_boxes(made):
    charts = json.loads(made["charts"])
    assert set(charts) == {"horizon", "curve"} and set(made["tables"]) == {"heads", "curves"}  # this run has no tails
    for chart, table in (("horizon", "heads"), ("curve", "curves")):
        (data,) = [data for data in charts[chart]["data"] if data["name"] == table]
        assert "values" not in data and "url" not in data
        assert set(SIGNALS) <= {signal["name"] for signal in charts[chart]["signals"]}
    assert "kurtosis" not in made["single"] and made["shown"] == {"horizon": "12"}


def test_first_order_is_drawn_where_the_tables_have_it(made):
    """Its line in the curves, its rows among the numbers; without it, neither."""
    heads, curves = (pd.read_csv(io.StringIO(made["tables"][name])) for name in ("heads", "curves"))
    with_it = explorer(heads.assign(usable_from=70.0), curves.assign(predicted=0.1), None, {"5-1": {}}, (5, 1))
    assert '"field":"predicted"' in with_it["charts"] and '"field":"predicted"' not in made["charts"]
    assert "predicted_error" in with_it["rows"] and "usable_from" in with_it["single"]
    assert "predicted_error" not in made["rows"] and "usable_from" not in made["single"]


def test_the_key_names_layers_and_sizes(made):
    assert [layer for layer, _ in made["key"]["layers"]] == [0, 5]
    words, radii = zip(*made["key"]["sizes"], strict=True)
    assert words == ("64 or fewer", "4,096", f"more than {BEYOND * 4096:,}") and list(radii) == sorted(radii)


def test_no_content_ends_the_script_that_holds_it(made):
    assert "</" not in in_script({"a": "</script>"}) and json.loads(in_script({"a": "</script>"})) == {"a": "</script>"}
    assert "</script" not in made["runtime"] and "vegaEmbed" in made["runtime"]
    with pytest.raises(ValueError, match="JSON"):
        in_script({"a": float("nan")})
