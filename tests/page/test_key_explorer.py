"""The charts of a language model's heads: the tables they draw, the numbers in words, and what follows the boxes."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from attnlimit.attention.key_protocols import PROTOCOLS, SAMPLED
from attnlimit.page.explorer import SIGNALS
from attnlimit.page.key_explorer import COLUMNS, SINGLE, key_explorer
from attnlimit.questions.keys.power import fitted


@pytest.fixture(scope="module")
def fits():
    return fitted(np.random.default_rng(3), noise=1e-9)["keys"].assign_attrs(context=1024)


@pytest.fixture(scope="module")
def made(fits):
    return key_explorer(fits)


def test_tables_are_what_the_stores_say(fits, made):
    heads, curves = (pd.read_csv(io.StringIO(made["tables"][name])) for name in ("heads", "curves"))
    assert len(heads) == 16 * len(SAMPLED) and set(curves["statistic"]) == set(PROTOCOLS)
    one = heads[(heads["layer"] == 2) & (heads["head"] == 1) & (heads["statistic"] == "sink")].iloc[0]
    expected = fits["first_order_keys"].sel(eps=0.05, context=1024, layer=2, head=1, protocol="sink")
    assert one["keys"] == pytest.approx(float(expected), rel=1e-4) and one["reliable"]
    uniform = curves[(curves["statistic"] == "uniform") & (curves["budget"] >= 16)]
    np.testing.assert_allclose(uniform["predicted"], uniform["error"], atol=2e-4)  # as these errors were made
    assert curves[curves["statistic"] == "window"]["predicted"].isna().all()


def test_every_head_has_every_number_and_the_hardest_is_shown_first(fits, made):
    words = json.loads(made["words"])
    assert len(words) == 16
    shown = {f"{column}_{name}" for column in COLUMNS for name in PROTOCOLS} | set(SINGLE)
    assert all(set(head) == shown for head in words.values())
    keys = fits["first_order_keys"].sel(eps=0.05, context=1024, protocol="sink_recent")
    assert float(keys.sel(layer=made["first"][0], head=made["first"][1])) == float(keys.max())


def test_charts_take_their_data_from_the_page_and_follow_the_boxes(made):
    charts = json.loads(made["charts"])
    for chart, table in (("keys", "heads"), ("curve", "curves")):
        (data,) = [data for data in charts[chart]["data"] if data["name"] == table]
        assert "values" not in data
        assert set(SIGNALS) <= {signal["name"] for signal in charts[chart]["signals"]}


def test_where_first_order_is_not_reliable_the_measured_number_stands(fits):
    """In the table of the chart; in words first order is not told, nor the share of a cache that rests on it."""
    one = {"layer": 2, "head": 1, "protocol": "sink"}
    off = fits.copy(deep=True)
    off["first_order_reliable"].loc[one] = 0.0
    off["keys"].loc[one | {"eps": 0.05}] = 345.6
    made = key_explorer(off)
    heads = pd.read_csv(io.StringIO(made["tables"]["heads"])).set_index(["layer", "head", "statistic"])
    assert heads.loc[(2, 1, "sink"), "keys"] == 345.6 and not heads.loc[(2, 1, "sink"), "reliable"]
    words = json.loads(made["words"])["2-1"]
    assert words["predicted_sink"] == words["share_sink"] == "not reliable" and words["measured_sink"] == "350"
