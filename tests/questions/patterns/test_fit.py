"""Rates and budgets of sparse attention on planted errors: power laws, bends, budgets that are not reached."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.patterns.fit import Marks, bends, budgets, fit_patterns
from attnlimit.questions.patterns.measure import TERMS
from attnlimit.questions.patterns.table import budgets_table, shown
from attnlimit.stats.power_law import Bootstrap

SIZES = np.array([16, 32, 64, 128, 256, 512, 1024])
BLOCK = 512
MARKS = Marks(bend=0.1, slope_tolerance=0.05)
PLANTED = {
    "random": lambda n: n**-0.5,
    "window": lambda n: np.where(n < BLOCK, 0.9 * n**-0.3, 0),  # 10 % at n = 1516, beyond the block
    "top": lambda n: np.where(n < BLOCK, 8 / n, 0),  # 10 % at 80, 5 % at 160
    "pooled": lambda n: np.where(n < BLOCK, 0.3 * np.exp(-n / 100), 0),  # no power law; below top from n = 27 on
}


def scores(blocks: int) -> dict[str, tuple]:
    """The law of normal scores gives 5/4 of the keys needed, which differ by block; it is not asked of head 3."""
    needed = np.linspace(0.2, 0.4, blocks) * np.ones((2, 4, 1))
    dims, noise = ("delta", "head", "block"), 1 + 0.01 * (-1) ** np.arange(blocks)
    asked = np.array([1, 0.8, 0.5, 0.4])[:, None] * np.ones(blocks)
    spread = {"score_spread": (dims[1:], 1.5 * np.ones((4, blocks))), "asked": (dims[1:], asked)}
    return spread | {"keys_needed": (dims, needed), "keys_gaussian": (dims, 1.25 * needed * noise)}


def errors(blocks: int = 8, noise: float = 0.1, second: float = 1.0) -> xr.Dataset:
    """Blocks differ in size by `noise`, all budgets of a block alike, and by a tenth of that in each budget."""
    stream = np.random.default_rng(0)
    sizes = SIZES.astype(float)
    curves = np.stack([np.where(sizes > BLOCK, np.nan, curve(sizes)) for curve in PLANTED.values()])
    curves[0] = PLANTED["random"](sizes)
    shape = (3, len(PLANTED), 4, blocks, 1, len(sizes))
    factor = np.exp(noise * stream.normal(size=(1, 1, 1, blocks, 1, 1)) + 0.1 * noise * stream.normal(size=shape))
    dims = ("statistic", "pattern", "head", "block", "replicate", "n")
    scale = np.linspace(1, 3, blocks) * np.ones((3, 4, 1))
    return xr.Dataset(
        {
            "error": (dims, curves[None, :, None, None, None] * factor * scale[:, None, :, :, None, None]),
            "limit_scale": (("statistic", "head", "block"), scale),
            "expected_square": (("term", "head", "block"), np.array([1, -second, second])[:, None, None] * scale**2),
            "length": ("block", np.full(blocks, BLOCK)),
            "left_out": (("head", "block", "n"), np.where(sizes < BLOCK, 4 / sizes, np.nan) * np.ones((4, blocks, 1))),
        }
        | scores(blocks),
        coords={"statistic": ["pointwise", "mean", "cov"], "pattern": list(PLANTED), "term": list(TERMS)}
        | {"delta": [0.1, 0.05], "n": SIZES, "head": range(4), "block": range(blocks), "layer": 0},
    )


def fitted(data: xr.Dataset) -> xr.Dataset:
    return fit_patterns(data, Bootstrap(400, True, np.random.default_rng(1)), MARKS)


@pytest.fixture(scope="module")
def rates() -> xr.Dataset:
    return fitted(errors())


def test_rates_and_bends_are_those_planted(rates):
    for name, beta in {"random": 0.5, "window": 0.3, "top": 1.0}.items():
        fit = rates.sel(pattern=name)
        assert (fit["beta_low"] < beta).mean() > 0.8 and (fit["beta_high"] > beta).mean() > 0.8
        assert np.abs(fit["beta"] - beta).max() < 0.03
        assert not fit["misfit"].any()
    assert rates["misfit"].sel(pattern="pooled").all()


def test_budgets_are_where_curves_cross_or_not_within_the_block(rates):
    tops = rates["budget"].sel(pattern="top", statistic="pointwise")
    np.testing.assert_allclose(tops.sel(eps=0.1), 80, rtol=0.15)
    np.testing.assert_allclose(tops.sel(eps=0.05), 160, rtol=0.15)
    assert (rates["budget_low"] <= rates["budget"]).all() and (rates["budget"] <= rates["budget_high"]).all()
    assert np.isinf(rates["budget"].sel(pattern="window")).all()
    assert rates["value"].sel(pattern="window", n=512).isnull().all()  # dense attention has no error


def test_budgets_without_noise():
    value = np.stack([curve(SIZES.astype(float)) for curve in PLANTED.values()])[None, :, None]  # (1, pattern, 1, n)
    value = np.where(value > 0, value, np.nan)
    found = budgets(SIZES, value)[:, 0, :, 0]  # (eps, pattern)
    np.testing.assert_allclose(found[:, 0], [100, 400])
    np.testing.assert_allclose(found[:, 2], [80, 160])
    assert np.isinf(found[:, 1]).all()
    assert budgets(SIZES, value / 100)[0, 0, 2, 0] == 16  # at most the smallest
    np.testing.assert_allclose(bends(SIZES, value)[0, :3, 0], 0, atol=1e-12)
    assert bends(SIZES, value)[0, 3, 0] > 0.5


def test_medians_are_over_heads(rates):
    np.testing.assert_allclose(rates["median_budget"], rates["budget"].median("head"))
    inside = rates["n"] <= BLOCK
    np.testing.assert_allclose(rates["median_value"], rates["value"].where(inside).median("head", skipna=False))


def test_who_beats_the_largest_scores(rates):
    beats = rates["beats_top"].sel(statistic="pointwise", head=0)
    assert beats.sel(pattern="pooled", n=16) == 1 and beats.sel(pattern="window", n=64) == 0
    assert beats.sel(n=512).isnull().all() and (beats.sel(pattern="top").dropna("n") == 0).all()


def test_the_largest_scores_err_by_what_they_leave_out_times_a_distance(rates):
    """8/n over 4/n, but for noise of blocks."""
    inside = rates["n"] < BLOCK
    np.testing.assert_allclose(rates["means_apart"].sel(n=inside), 2, rtol=0.1)
    np.testing.assert_allclose(rates["left_out"].sel(n=inside), np.broadcast_to(4 / SIZES[:5], (4, 5)), rtol=1e-12)
    assert rates["means_apart"].sel(n=~inside).isnull().all()


def test_the_ratio_of_keys_by_the_law_to_keys_needed(rates):
    ratio = rates["gaussian_ratio"]
    np.testing.assert_allclose(ratio.sel(head=[0, 1, 2]), 1.25, rtol=0.005)
    assert (rates["gaussian_ratio_low"] < 1.25).sel(head=[0, 1, 2]).all()
    assert (rates["gaussian_ratio_high"] > 1.25).sel(head=[0, 1, 2]).all()
    assert (rates["gaussian_ratio_high"] / rates["gaussian_ratio_low"]).max() < 1.03
    assert ratio.sel(head=3).isnull().all()
    np.testing.assert_allclose(rates["keys_needed"], 0.3, rtol=1e-12)


def test_a_block_of_which_no_query_is_asked_does_not_count():
    data = errors()
    whole, of_head = fitted(data.isel(block=slice(1, None)))["gaussian_ratio"], {"head": 1, "block": 0}
    data["asked"][of_head] = 0
    for name in ("keys_needed", "keys_gaussian"):
        data[name][of_head] = np.nan
    np.testing.assert_allclose(fitted(data)["gaussian_ratio"].sel(head=1), whole.sel(head=1), rtol=1e-12)


def test_theory_asks_for_a_half_from_the_budget_on_at_which_its_next_term_is_small():
    """c2 / (n c1) at most 0.1 / 1.1, which moves the slope by 0.05: from n = 11 c2 / c1 on."""
    for second, start in ((1, 16), (5.8, 64), (5.9, 128), (50, 1024), (1000, np.nan)):
        rates = fitted(errors(second=second))
        np.testing.assert_array_equal(rates["theory_from"], start)
        enough = (start <= SIZES).sum() >= 3
        assert rates["late_beta"].notnull().all() == enough
        if enough:
            np.testing.assert_allclose(rates["late_beta"], 0.5, atol=0.03)
    np.testing.assert_allclose(rates["theory_value"], np.broadcast_to(SIZES**-0.5, (4, 7)))


def test_one_block_has_rates_and_no_intervals():
    rates = fitted(errors(blocks=1))
    assert rates["beta"].notnull().all() and rates["late_beta"].notnull().all()
    assert all(rates[name].isnull().all() for name in rates if name.endswith(("_low", "_high")))
    assert not any("nan" in cell for row in shown(budgets_table(rates.expand_dims("layer"))) for cell in row[3:5])


def test_the_table_says_what_is_not_reached(rates):
    table = budgets_table(rates.expand_dims("layer")).set_index(["statistic", "pattern"])
    window, top = table.loc[("pointwise", "window")], table.loc[("pointwise", "top")]
    assert np.isinf(window["keys_10"]) and window["largest"] == 256 and window["heads_10"] == 0
    assert top["heads_5"] == 4 and top["keys_5_low"] <= top["keys_5"] <= top["keys_5_high"]
    rows = {row[1:3]: row for row in shown(table.reset_index())}
    assert rows["pointwise", "window"][3:5] == ("> 256", "> 256")
    assert rows["pointwise", "top"][3].startswith(f"{top['keys_10']:.0f} [")
    assert rows["pointwise", "pooled"][6] == "4 of 4" and rows["pointwise", "top"][6] == "0 of 4"
