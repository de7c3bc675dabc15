"""The atlas: every column of a head against dense formulas in float64, medians and orders of models, its tables."""

import numpy as np
import pytest
import torch
import xarray as xr
from scipy.stats import spearmanr

from attnlimit.attention.keys import Kept
from attnlimit.attention.probe import probed
from attnlimit.base.store import read, write
from attnlimit.base.words import words_of
from attnlimit.drawing.style import set_theme
from attnlimit.questions.atlas.about import STORES
from attnlimit.questions.atlas.answer import atlas_answer
from attnlimit.questions.atlas.columns import COLUMNS
from attnlimit.questions.atlas.compare import compare, order, rows_of
from attnlimit.questions.atlas.figures import atlas_beyond, atlas_depth, atlas_horizon
from attnlimit.questions.atlas.report import SUMMARY, atlas_facts, atlas_table, median_keys, model_rows
from attnlimit.questions.entry.measure import pooled_couplings
from attnlimit.questions.keys.fit import fit_keys
from attnlimit.questions.keys.measure import Reading, measure_window
from attnlimit.sampling.joining import join_parts
from support.language import small_bert, small_llama, words

CONTEXT, SIZE, QUERIES, KEPT = 32, 48, 8, Kept(1, 4, 2)
SIZES = [2, 4, 8, 16, 24, 64, 512, 4096]
WINDOWS = [np.array([int(word[1:]) for word in words(CONTEXT, seed).split()]) for seed in range(3)]
ASKED = ("uniform", "sink", "recent", "sink_recent", "window", "top")


def entry(model, causal: bool) -> tuple[xr.Dataset, xr.Dataset]:
    """The stores of a run of one model."""
    reading = Reading([CONTEXT], CONTEXT, QUERIES, KEPT, ASKED, SIZES, 2, seed=3)
    errors = join_parts([measure_window(model, row, reading, window=n) for n, row in enumerate(WINDOWS)], "window")
    fits = fit_keys(errors, CONTEXT, KEPT.by_protocol())
    facts = {"corpus": {"name": "random words"}, "context": CONTEXT}
    couplings = pooled_couplings(model, WINDOWS, errors["layer"].values.tolist())
    return fits.assign_attrs(facts), couplings.assign_attrs(causal=causal)


@pytest.fixture(scope="module")
def entries() -> dict:
    return {"bert": entry(small_bert(), False), "llama": entry(small_llama(layers=3), True)}


@pytest.fixture(scope="module")
def compared(entries) -> xr.Dataset:
    return compare(entries, SIZE).assign_attrs(size=SIZE)


def dense_heads(model, layer: int) -> list:
    """Weights p (query, key) and values v (key, width) of head 1 in each window, by the softmax written out."""
    found = []

    def receive(number, queries, keys, values, scaling, causal):
        if number == layer:
            group = queries.shape[1] // keys.shape[1]
            q, k, v = queries[0, 1].double(), keys[0, 1 // group].double(), values[0, 1 // group].double()
            scores = q @ k.T * scaling
            if causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
            found.append((torch.softmax(scores, -1).numpy(), v.numpy()))

    with torch.no_grad(), probed(model, receive):
        for tokens in WINDOWS:
            model(torch.as_tensor(tokens)[None])
    return found


@pytest.mark.parametrize(
    ("name", "model", "causal"), [("bert", small_bert(), False), ("llama", small_llama(layers=3), True)]
)
def test_a_head_by_formulas_written_out(compared, name, model, causal):
    """Layer 1, head 1: means over windows and the queries of the last half, all formulas in float64."""
    first_weight, effective, c1, second = [], [], [], []
    top = {budget: [] for budget in (7, 9, 13, 21, 29)}  # n + 5 keys
    for p, v in dense_heads(model, 1):
        spread = v.var(0).sum()
        for i in range(CONTEXT // 2 + 1, CONTEXT, 2):  # 8 queries of the last half, its end among them
            m = i + 1 if causal else CONTEXT
            w, values = p[i, :m], v[:m]
            o = w @ values
            first_weight.append(w[0])
            effective.append(1 / (w**2).sum())
            c1.append(m * (w**2 * ((values - o) ** 2).sum(1)).sum() / spread)
            second.append(m * (w**2).sum())
            for budget, squares in top.items():
                use = np.argsort(w)[::-1][:budget]
                squares.append(((w[use] @ values[use] / w[use].sum() - o) ** 2).sum() / spread)
    rows = atlas_table(compared)
    row = rows[(rows["model"] == name) & (rows["layer"] == 1) & (rows["head"] == 1)].iloc[0]
    assert row["first_weight"] == pytest.approx(np.mean(first_weight), rel=1e-5)
    assert row["effective_keys"] == pytest.approx(np.mean(effective), rel=1e-5)
    assert row["first_order_error"] == pytest.approx(np.sqrt(np.mean(c1) / SIZE), rel=1e-5)
    assert row["first_order_keys_uniform"] == pytest.approx(np.mean(c1) / 0.05**2, rel=1e-5)
    assert row["first_order_reliable"] == (10 * np.mean(second) <= SIZE)
    assert row["causal"] == causal and row["context"] == CONTEXT
    assert row["depth"] == (0.5 if causal else 1.0)
    errors = {budget: np.sqrt(np.mean(squares)) for budget, squares in top.items()}
    enough = [budget for budget in errors if errors[budget] <= 0.05]
    if not enough:
        assert np.isinf(row["keys_top"])
    else:
        before = max((budget for budget in errors if budget < enough[0]), default=enough[0])
        assert before <= row["keys_top"] <= enough[0]


def test_kept_keys_are_counted(compared, entries):
    fits = entries["llama"][0].sel(eps=0.05)
    rows = rows_of(compared, "llama")
    for name, extra in {"uniform": 0, "sink_recent": 5, "window": 5, "top": 5}.items():
        own = fits["keys"].sel(protocol=name).transpose("layer", "head").values
        np.testing.assert_allclose(rows[f"keys_{name}"].values.reshape(own.shape), own + extra)
        middle = compared["median_keys"].sel(model="llama", protocol=name)
        assert float(middle) == pytest.approx(float(fits["median_keys"].sel(protocol=name)) + extra)
        assert float(compared["fewest_keys"].sel(model="llama", protocol=name)) == fits["n"].values[0] + extra


def test_a_median_at_the_fewest_keys_tried_may_be_smaller(compared):
    model = compared.sel(model="llama")
    fewest = float(model["fewest_keys"].sel(protocol="top"))
    assert median_keys(model.assign(median_keys=model["median_keys"] * 0 + fewest), "top") == f"at most {fewest:.0f}"
    assert "at most" not in median_keys(model.assign(median_keys=model["median_keys"] * 0 + fewest + 1), "top")


def test_a_median_above_the_most_keys_tried_is_marked(compared):
    model = compared.sel(model="llama")
    most = float(model["most_keys"].sel(protocol="uniform"))
    for keys, marked in ((most, False), (most + 1, True)):
        words = median_keys(model.assign(median_keys=model["median_keys"] * 0 + keys), "uniform")
        assert words.endswith(" extrapolated") == marked


def test_heads_that_need_the_whole_context(entries):
    """The share counts heads with n(5 %) + kept >= context, not reached being more."""
    for fits, _ in entries.values():
        at = fits.sel(eps=0.05, protocol="uniform")
        share = float(at["beyond"])
        assert share == pytest.approx(np.mean(at["keys"].values >= CONTEXT))
        top = fits.sel(eps=0.05, protocol="top")
        assert float(top["beyond"]) == pytest.approx(np.mean(top["keys"].values + 5 >= CONTEXT))


def test_a_share_and_its_interval_lie_between_0_and_1(entries):
    fits, couplings = entries["bert"]
    wide = fits.assign(beyond_low=fits["beyond"] - 2, beyond_high=fits["beyond"] + 2)
    found = compare({"bert": (wide, couplings)}, SIZE)
    assert (found["beyond_low"] == 0).all() and (found["beyond_high"] == 1).all()


def test_orders_are_spearmans_with_an_interval_over_layers():
    stream = np.random.default_rng(4)
    x, layer = stream.normal(size=40), np.repeat(np.arange(5), 8)
    for y, sign in ((x**3, 1), (-x, -1)):
        assert order(x, y, layer) == pytest.approx((sign, sign, sign))
    y = x + stream.normal(size=40)
    found = order(x, y, layer)
    assert found.value == pytest.approx(spearmanr(x, y).statistic) and -1 <= found.low < found.value < found.high <= 1
    for layers in (1, 2):
        few = order(x, y, np.arange(40) % layers)
        assert np.isnan(few.low) and few.value == found.value, "too few layers for an interval"


def test_only_heads_at_which_first_order_may_be_used_are_ranked_by_h(entries):
    void, every = (compare(entries, size).sel(model="llama", quantity="error_horizon") for size in (1, 10**9))
    assert np.isnan(float(void["order"]))
    rows = rows_of(every, "llama")
    assert float(every["order"]) == pytest.approx(spearmanr(rows["horizon"], rows["first_order_error"]).statistic)


def test_the_table_has_a_row_a_head_and_a_meaning_for_each_column(compared, tmp_path):
    table = atlas_table(compared)
    assert list(table) == list(COLUMNS) and len(table) == 20
    assert table.groupby("model").size().to_dict() == {"bert": 8, "llama": 12}
    write(compared, tmp_path / "atlas.zarr.zip", STORES["rates/atlas"], size=SIZE)
    stored = read(tmp_path / "atlas.zarr.zip")
    for name in set(COLUMNS) - {"model"}:
        assert stored[name].attrs["long_name"] == words_of(name, COLUMNS)[0]
    assert atlas_table(stored).equals(table)


def test_what_the_page_says_comes_from_the_store(compared):
    (bert, llama), facts = list(model_rows(compared)), atlas_facts(compared)
    assert len(bert) == len(SUMMARY) and bert[:2] == ("bert", "8") and llama[0] == "llama"
    assert facts["bert"].startswith("an encoder, 2 layers of 4 heads") and "language model" in facts["llama"]
    own = compared["horizon"].values[compared["model_of_head"].values == "bert"]
    assert bert[2].startswith(f"{np.median(own):.2f} [{np.quantile(own, 0.05):.2f}, ")
    lines = atlas_answer(compared)
    share = float(compared["beyond"].sel(model="bert", protocol="uniform"))
    assert f"bert {share:.2f}" in lines["beyond"] and "an ordinary average of the values needs 400" in lines["beyond"]
    other = compared.copy(deep=True)
    other["beyond"][:] = 0.6
    assert "above one half in 2 of 2 models" in atlas_answer(other)["beyond"]


def test_figures_show_every_head_and_what_is_not_reached_at_the_edge(compared):
    set_theme()
    compared = compared.copy(deep=True)
    compared["keys_uniform"][0] = np.inf
    figure = atlas_depth(compared)
    points = [each.get_offsets() for each in figure.axes[0].collections]
    assert sum(map(len, points)) == compared.sizes["row"]
    finite = np.isfinite(compared["keys_uniform"].values)
    drawn = np.asarray(np.concatenate(points))[:, 1]
    np.testing.assert_allclose(drawn[finite], compared["keys_uniform"].values[finite])
    assert not finite.all() and (drawn[~finite] > drawn[finite].max()).all()
    assert sum(len(each.get_offsets()) for each in atlas_horizon(compared).axes[0].collections) == len(drawn)
    shares = atlas_beyond(compared).axes[0].lines[0].get_xdata()
    np.testing.assert_allclose(shares, compared["beyond"].sel(protocol="uniform"))


def test_stores_that_do_not_belong_together_are_refused(entries):
    fits, couplings = entries["bert"]
    with pytest.raises(ValueError, match=r"bert: keys of layers \[0, 1\], couplings of \[0\]; run it again"):
        compare({"bert": (fits, couplings.isel(layer=[0]))}, SIZE)
