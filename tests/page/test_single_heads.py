"""What the page shows of one head: rows by hand, words for every kind of number."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS
from attnlimit.page.single_heads import curve_table, head_table, in_words, needed, slowest, tail_table
from attnlimit.stats.complexity import SHARES

SIZES = np.array([64, 512, 4096])
BETAS = np.array([[0.5, 0.06], [0.45, 0.52]])  # (layer, head), of the mean


@pytest.fixture
def rates() -> xr.Dataset:
    """Two layers of two heads whose errors are exact powers of n, twice their scale of 3 at n = 1."""
    dims, shape = ("layer", "statistic", "part", "head"), (2, len(STATISTICS), len(PARTS), 2)
    beta = np.full(shape, 9.0)
    beta[:, :2, 0] = BETAS[:, None]
    data = {"beta": (dims, beta), "beta_low": (dims, beta - 0.1), "beta_high": (dims, beta + 0.2)}
    data |= {"intercept": (dims, np.full(shape, np.log(6.0))), "relative_error": (dims, np.full(shape, 0.0123))}
    data |= {name: (dims, np.zeros(shape, bool)) for name in ("misfit", "saturated", "limit_uncertain")}
    data["misfit"][1][0, 1, 0, 1] = True
    value = 6 * SIZES ** -beta[..., None]
    data |= {"value": ((*dims, "n"), value), "value_se": ((*dims, "n"), 0.1 * value)}
    data |= {"limit_scale": (("layer", "statistic", "head"), np.full((2, len(STATISTICS), 2), 3.0))}
    tokens = np.full((len(SHARES), 2, len(STATISTICS), 2), 100.0)
    data |= {
        f"tokens_needed{end}": (("eps", "layer", "statistic", "head"), tokens * factor)
        for end, factor in (("", 1), ("_low", 0.9), ("_high", 1.1))
    }
    data |= {name: (("layer", "head"), [[0.3, 12.0], [0.4, 1.0]]) for name in ("horizon", "constant_tilt", "bound_v3")}
    coords = {"layer": [0, 5], "statistic": list(STATISTICS), "part": list(PARTS), "head": [0, 1], "n": SIZES}
    return xr.Dataset(data, coords=coords | {"eps": list(SHARES)})


@pytest.fixture
def tails() -> xr.Dataset:
    ratio = np.array([[[0.5, 1, 2.0]], [[0.7, 1, 1.5]]])  # (head, direction, scale)
    data = {
        "log_mgf_ratio": (("head", "direction", "scale"), ratio),
        "kurtosis": (("head", "direction"), [[-1.354], [2]]),
    }
    data |= {"effective_tokens": (("head", "direction", "scale"), 100 / ratio), "sub_gaussian": ("head", [2.0, 1.5])}
    coords = {"head": [0, 1], "direction": [0], "scale": [-1.0, 1.0, 6.0], "layer": 5}
    return xr.Dataset(data, coords=coords, attrs={"effective": 60})


def test_a_row_for_each_head_and_statistic_with_the_fit_of_the_error(rates):
    table = head_table(rates).set_index(["layer", "head", "statistic"])
    assert len(table) == 2 * 2 * 2 and table.index.names == ["layer", "head", "statistic"]
    assert table.loc[(0, 1, "mean"), "beta"] == 0.06 and table.loc[(0, 1, "mean"), "horizon"] == 12
    assert table["hollow"].sum() == 1 and table.loc[(0, 1, "cov"), "hollow"]
    assert table.loc[(5, 0, "cov"), "tokens_5_high"] == pytest.approx(110)
    assert slowest(head_table(rates)) == (0, 1)


def test_curves_are_relative_and_the_band_holds_the_slopes_of_the_interval(rates):
    table = curve_table(rates).set_index(["layer", "head", "statistic", "n"]).sort_index()
    row = table.loc[(5, 1, "mean")]
    assert row["error"].tolist() == pytest.approx((2 * SIZES**-0.52).tolist())
    assert row["fit"].tolist() == pytest.approx(row["error"].tolist())
    assert row["error_high"].tolist() == pytest.approx((1.196 * row["error"]).tolist())
    slopes = [np.diff(np.log(row[name].values[[0, 1]])) / np.log(8) for name in ("fit_low", "fit_high")]
    assert np.ravel(slopes).tolist() == pytest.approx([-0.42, -0.72])  # left of the middle, which is 512
    assert (row["fit_low"] <= row["fit"] + 1e-12).all() and (row["fit"] <= row["fit_high"] + 1e-12).all()


def test_tails_are_those_of_the_first_direction_and_say_what_carries_them(tails):
    table = tail_table([tails])
    assert table[table["head"] == 0]["log_mgf_ratio"].tolist() == [0.5, 1, 2]
    assert table[table["head"] == 0]["carried"].tolist() == [True, True, False]
    assert set(table["layer"]) == {5}


def test_each_head_in_words(rates, tails):
    words = in_words(head_table(rates), SIZES, [tails])
    assert set(words) == {"0-0", "0-1", "5-0", "5-1"}
    shown = words["0-1"]
    assert shown["beta_mean"] == "0.06 [−0.04, 0.26]" and shown["horizon"] == "12"
    assert shown["marks_cov"] == "no power law" and shown["marks_mean"] == "a power law"
    assert shown["error_mean"] == "1.2 %" and shown["tokens_5_mean"] == "100"
    assert words["5-0"]["kurtosis"] == "−1.35" and words["5-0"]["sub_gaussian"] == "2.00"
    assert "kurtosis" not in shown
    rates["relative_error"] = rates["relative_error"] * 0 + 12.34
    assert in_words(head_table(rates), SIZES, [])["0-1"]["error_mean"] == "1,234 %"


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(np.nan, "not known"), (np.inf, "> 40,960"), (64, "≤ 64"), (761.2, "760"), (4097, "4,100 †"), (4096, "4,100")],
)
def test_tokens_needed_in_few_letters(tokens, words):
    assert needed(tokens, SIZES) == words


@pytest.fixture
def first(rates) -> xr.Dataset:
    """First order of the same heads and of whole layers: errors of 0.3 at every n, scales of 3."""
    dims = ("layer", "statistic", "head")
    coords = {"layer": [0, 5], "statistic": ["mean", "cov"], "head": [0, 1, -1], "n": SIZES, "eps": list(SHARES)}
    data = {"predicted": ((*dims, "n"), np.full((2, 2, 3, 3), 0.3)), "limit_scale": (dims, np.full((2, 2, 3), 3.0))}
    data |= {"tokens_predicted": (("eps", *dims), np.full((len(SHARES), 2, 2, 3), 1234.0))}
    return xr.Dataset(data | {"usable_from": (("layer", "head"), [[70, 71, 72], [73, 5678, 75]])}, coords=coords)


def test_first_order_beside_the_fits_where_the_run_has_it(rates, first):
    table = head_table(rates, first)
    assert len(table) == 2 * 2 * 2 and np.allclose(table["predicted_error"], 0.1)
    words = in_words(table, SIZES, [])
    assert (words["5-0"]["predicted_error_cov"], words["5-0"]["predicted_tokens_5_mean"]) == ("10 %", "1,200")
    assert words["5-1"]["usable_from"] == "5,700" and "usable_from" not in in_words(head_table(rates), SIZES, [])["5-1"]


def test_first_order_is_not_told_where_it_is_not_reliable(rates, first):
    """Heads are reliable from n = 70 to 75 on, but one from 5,678: it has no prediction at n up to 4,096."""
    curves = curve_table(rates, first).set_index(["layer", "head", "n"])["predicted"]
    assert "predicted" not in curve_table(rates)
    assert curves.loc[5, 1].isna().all() and curves.loc[0, 0, 64].isna().all()
    assert np.allclose(curves.loc[0, 0, [512, 4096]], 0.1)
    words = in_words(head_table(rates, first), SIZES, [])["5-1"]
    assert words["predicted_error_mean"] == words["predicted_tokens_5_mean"] == "not reliable"
