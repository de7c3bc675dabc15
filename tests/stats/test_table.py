"""One row for each fit that exists, with the columns that the report names."""

from math import prod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS, WHOLE_LAYER, heads_only, whole_layer
from attnlimit.stats.complexity import SHARES
from attnlimit.stats.power_law import LOCAL
from attnlimit.stats.table import LABELS, rates_table, write_csv

HEADER = (
    "source,layer,head,setting,statistic,part,beta,beta_low,beta_high,se,se_scaled,intercept,chi2,dof,misfit,"
    "last_local_slope,last_local_slope_low,last_local_slope_high,relative_error,saturated,limit_se,limit_se_share,limit_uncertain,"
    "tokens_10,tokens_10_low,tokens_10_high,tokens_10_extrapolated,tokens_5,tokens_5_low,tokens_5_high,tokens_5_extrapolated,"
    "tokens_1,tokens_1_low,tokens_1_high,tokens_1_extrapolated,horizon,horizon_one_sided,horizon_frobenius,psi,seen_variance,constant_tilt,horizon_published,bound_v3,bound_v1_experiment,"
    "bound_v1_theorem,heuristic,n_min,n_max,replicates,population,model,corpus,run,"
    "dimension,isotropic,exact,scale,published,attended"
)
FITTED = ("beta", "beta_low", "beta_high", "se", "se_scaled", "intercept", "chi2", "dof", "relative_error")
PER_HEAD = (
    *("horizon", "horizon_one_sided", "horizon_frobenius", "psi", "seen_variance"),
    *("bound_v3", "bound_v1_experiment", "bound_v1_theorem", "heuristic"),
)


def numbered(unit: tuple[str, ...], start: float) -> xr.Dataset:
    """Fits, every number its own; the spectral norm has an error part only."""
    sizes = {"layer": 2, "statistic": len(STATISTICS), "part": len(PARTS), "head": 2}
    dims = ("layer", "statistic", "part", *unit)
    shape = tuple(sizes[name] for name in dims)
    labels = {"layer": [0, 5], "statistic": list(STATISTICS), "part": list(PARTS), "n": [64, 512, 4096]}
    data = xr.Dataset(coords=labels | {name: range(sizes[name]) for name in unit})
    for number, name in enumerate(FITTED):
        array = start + number + np.arange(prod(shape)).reshape(shape) / 100
        array[:, STATISTICS.index("cov_spectral"), 1:] = np.nan
        data[name] = (dims, array)
    data["value"] = ((*dims, "n"), np.ones((*shape, 3)))
    for number, name in enumerate(LOCAL):
        both = start + 10.0 + number + np.arange(2 * prod(shape)).reshape(*shape, 2) / 1000
        data[name] = ((*dims, "interval"), both)
    of_limit = (*dims[:2], *unit)
    data["limit_se"] = (of_limit, np.arange(prod(map(sizes.get, of_limit))).reshape([*map(sizes.get, of_limit)]) / 1000)
    data["misfit"] = data["chi2"] > 6.3
    data["saturated"] = data["relative_error"] > 8.2
    data["limit_se_share"] = data["limit_se"] / data["relative_error"]
    data["limit_uncertain"] = data["limit_se_share"] > 0.001
    return data


@pytest.fixture
def rates() -> xr.Dataset:
    """Two layers of two heads and the whole."""
    data = xr.concat([numbered(("head",), 0.0), numbered((), 0.5).expand_dims(head=[WHOLE_LAYER])], "head")
    data["beta"].loc[{"layer": 5, "statistic": "mean", "part": "bias", "head": 1}] = np.nan
    for number, name in enumerate(PER_HEAD):
        data[name] = (("layer", "head"), 20.0 + number + np.array([[0.1, 0.2, np.nan], [0.3, 0.4, np.nan]]))
    data["horizon_published"] = ("layer", [40.0, 50.0])
    whose = {"model": {"name": "someone/small"}, "corpus": {"name": "texts"}}
    return data.assign_attrs(source="heads", replicates=100, population=50176, **whose)


def one(table: pd.DataFrame, **where) -> pd.Series:
    for name, value in where.items():
        table = table[table[name] == value]
    (row,) = table.to_dict("records")
    return pd.Series(row)


def test_columns_are_those_that_the_report_names(rates):
    table = rates_table(rates)
    assert ",".join(table.columns) == HEADER
    caption = Path(__file__).parents[2].joinpath("rules", "report", "rates.rst").read_text()
    named = (
        "source",
        "layer",
        "head",
        "setting",
        "statistic",
        "part",
        "beta",
        "last_local_slope",
        "limit_se",
        "limit_se_share",
        "limit_uncertain",
        "se",
        "se_scaled",
        "intercept",
        "chi2",
        "dof",
    )
    for name in (
        *named,
        "misfit",
        "saturated",
        "bound_v3",
        "bound_v1_experiment",
        "bound_v1_theorem",
        "heuristic",
        *LABELS,
    ):
        assert name in caption


def test_there_is_a_row_for_each_fit_and_none_for_what_was_not_fitted(rates):
    table = rates_table(rates)
    fits = 2 * 3 * (3 + 3 + 1)  # layers, heads and the whole, parts of mean, cov and cov_spectral
    assert len(table) == fits - 1
    assert table["beta"].notna().all()
    keys = table[["layer", "head", "statistic", "part"]]
    assert not keys.duplicated().any()
    assert not ((keys == [5, "1", "mean", "bias"]).all(axis=1)).any()
    assert set(table["part"][table["statistic"] == "cov_spectral"]) == {"error"}
    assert set(table["statistic"]) == {"mean", "cov", "cov_spectral"}
    assert set(table["part"]) == {"error", "bias", "fluctuation"}


def test_rows_come_in_one_order(rates):
    """By layer, statistic, part and head, then the whole layers: whatever order sets have in this process."""
    rates["tokens_needed"] = (("layer", "eps", "statistic", "head"), np.ones((2, 3, 3, 3)))
    rates = rates.assign_coords(eps=list(SHARES))
    places = rates_table(rates)[["layer", "statistic", "part", "head"]].values.tolist()
    for whole in (False, True):
        mine = [place for place in places if (place[3] == "all") == whole]
        ranks = [(layer, STATISTICS.index(name), PARTS.index(part), head) for layer, name, part, head in mine]
        assert ranks == sorted(ranks)
    assert [place[3] == "all" for place in places] == sorted(place[3] == "all" for place in places)


def test_a_row_holds_the_numbers_of_its_fit(rates):
    row = one(rates_table(rates), layer=5, head="1", statistic="cov", part="fluctuation")
    fit = rates.sel(layer=5, head=1, statistic="cov", part="fluctuation")
    for name in (*FITTED, *PER_HEAD, "limit_se_share"):
        assert row[name] == float(fit[name]), name
    for name in LOCAL:
        assert row[f"last_{name}"] == float(fit[name][-1]), name
    assert row["limit_se"] == float(fit["limit_se"]) == 0.009
    assert row["horizon"] == 20.4 and row["horizon_published"] == 50
    assert row["misfit"] == bool(fit["misfit"]) and row["saturated"] == bool(fit["saturated"])
    assert row["limit_uncertain"] and bool(fit["limit_uncertain"])
    facts = row[["source", "n_min", "n_max", "replicates", "population"]]
    assert facts.to_list() == ["heads", 64, 4096, 100, 50176]


def test_the_whole_layer_is_all_and_has_no_horizon(rates):
    table = rates_table(rates)
    assert set(table["head"]) == {"0", "1", "all"}
    whole = table[table["head"] == "all"]
    assert whole[list(PER_HEAD)].isna().all(axis=None)
    assert whole["horizon_published"].to_list() == [40.0] * 7 + [50.0] * 7  # one number a layer
    row = one(table, layer=5, head="all", statistic="cov", part="bias")
    fit = whole_layer(rates).sel(layer=5, statistic="cov", part="bias")
    for name in (*FITTED, "misfit", "saturated", "limit_se", "limit_se_share", "limit_uncertain"):
        assert row[name] == fit[name], name
    assert row["last_local_slope"] == float(fit["local_slope"][-1])


def test_a_simulation_has_settings_instead_of_layers_and_heads(rates):
    simulated = (
        heads_only(rates)
        .isel(layer=0, drop=True)
        .rename(head="setting")
        .assign_coords(setting=["scale 0.1", "scale 1"])
    )
    simulated["dimension"], simulated["isotropic"] = ("setting", [1, 3]), ("setting", [False, True])
    simulated.attrs = {"source": "gaussian", "replicates": 8}
    table = rates_table(simulated)
    assert ",".join(table.columns) == HEADER
    assert table[["layer", "head", "population"]].isna().all(axis=None)
    row = one(table, setting="scale 1", statistic="cov", part="bias")
    assert row["beta"] == float(simulated["beta"].sel(setting="scale 1", statistic="cov", part="bias"))
    assert (row["source"], row["replicates"], row["horizon"]) == ("gaussian", 8, 20.2)
    assert (row["dimension"], row["isotropic"]) == (3, True)
    assert table[["exact", "scale", "published", "attended"]].isna().all(axis=None)


def test_what_a_simulation_does_not_have_stays_empty(rates):
    table = rates_table(rates.drop_vars(["horizon_published", "heuristic"]))
    assert ",".join(table.columns) == HEADER
    assert table[["horizon_published", "heuristic"]].isna().all(axis=None)


def test_csv_reads_back_to_eight_digits_and_is_the_same_bytes_twice(rates, tmp_path):
    table = rates_table(rates)
    for name in ("first.csv", "second.csv"):
        write_csv(table, tmp_path / name)
    content = (tmp_path / "first.csv").read_bytes()
    assert content == (tmp_path / "second.csv").read_bytes()
    assert b"\r" not in content and content.startswith(HEADER.encode() + b"\n")
    found = pd.read_csv(tmp_path / "first.csv", dtype={"head": str})
    pd.testing.assert_frame_equal(found, table.reset_index(drop=True), check_dtype=False, rtol=1e-7)
