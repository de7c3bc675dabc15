"""The sentences and the numbers that page, terminal and README open with, by hand from small fits."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.page.conclusion import answers, conclusion
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED

RECORDS = [
    {"id": "heads_above", "experiment": "heads of m", "number": "0 of 4 fits below", "verdict": HOLDS},
    {"id": "bound_curve", "experiment": "simulated tokens", "number": "0 of 8 fits below", "verdict": HOLDS},
    {"id": "heads_curve", "experiment": "heads as they are", "number": "+0.03", "verdict": FAILS},
    {"id": "horizon_dependence", "experiment": "simulated tokens", "number": "5 of 5", "verdict": HOLDS},
    {"id": "interventions_horizon", "experiment": "heads with H larger", "number": "", "verdict": None},
]


def rates(tokens: list[float]) -> xr.Dataset:
    """Two heads of one layer, one whose rate is surely near 1/2, and the whole layer."""
    ends = {"beta": [0.5, 0.3, 0.4], "beta_low": [0.48, 0.28, 0.3], "beta_high": [0.52, 0.32, 0.5]}
    dims = ("layer", "part", "statistic", "head")
    fields = {name: (dims, np.tile(values, (1, 1, 2, 1))) for name, values in ends.items()}
    fields["misfit"] = (dims, np.zeros((1, 1, 2, 3), bool))
    fields["tokens_needed"] = (("eps", *dims), np.tile([*tokens, 1.0], (1, 1, 1, 2, 1)))
    coords = {"layer": [0], "part": ["error"], "statistic": ["mean", "cov"], "head": [0, 1, -1], "eps": [0.05]}
    return xr.Dataset(fields, coords | {"n": [64, 4096]}, {"model": {"name": "owner/m"}, "population": 50335})


def contexts(share: float) -> xr.Dataset:
    fields = {f"overall_share{end}": (("run", "statistic"), [[1.0], [share]]) for end in ("", "_low", "_high")}
    return xr.Dataset(fields, {"run": ["1", "512"], "statistic": ["mean"], "layer": [0, 2], "n": [512, 2048]})


def keys() -> xr.Dataset:
    protocols = ["uniform", "sink_recent", "top"]
    first = xr.DataArray([[[9000.0], [300.0], [np.nan]]], dims=("eps", "protocol", "context"))
    measured = xr.DataArray([[8000.0, 310.0, 16.0]], dims=("eps", "protocol"))
    budget = xr.DataArray([[16.0, 81.0, 81.0]], dims=("n", "protocol"))
    growth = {f"median_growth{end}": ("protocol", [0.95, 1.0, np.nan]) for end in ("", "_low", "_high")}
    data = xr.Dataset({"median_first_order_keys": first, "median_keys": measured, "budget": budget})
    data = data.assign(growth).assign_coords(n=[16])
    attrs = {"context": 1000, "windows": 6, "model": {"name": "decoder"}}
    return data.assign_coords(eps=[0.05], protocol=protocols, context=[1000]).assign_attrs(attrs)


def patterns() -> xr.Dataset:
    dims = ("eps", "statistic", "pattern", "layer", "head")
    budget = xr.DataArray([[[[[np.inf, np.inf, 100.0]], [[10.0, 20.0, 30.0]]]]], dims=dims)
    value = xr.ones_like(budget.isel(eps=0, head=0)).expand_dims(n=[16, 384])
    data = xr.Dataset({"budget": budget, "median_value": value}, attrs={"block": 512})
    return data.assign_coords(eps=[0.05], statistic=["pointwise"], pattern=["random", "top"], layer=[0])


def test_the_sentences_by_hand():
    first, second, third = conclusion(RECORDS, rates([760.0, 5000.0]))
    assert "in 1 of 2 heads of m" in first.says and "after about 760 tokens" in first.says
    assert "a population of 50,335 tokens" in first.detail and "(extrapolated)" in first.detail
    assert "within 5 % of their limit covariance" in first.detail
    assert second.says.startswith("In this run, no rate of heads of m or of simulated tokens that can be compared")
    assert "does not prove it" in second.detail
    assert third.says == "Does β fall as H grows? Yes for simulated tokens; no for heads as they are.", (
        "a claim that is left out is not told"
    )


@pytest.mark.parametrize(("verdict", "said"), [(FAILS, "rates lie below"), (UNDECIDED, "is undecided")])
def test_a_bound_that_does_not_hold_is_not_flattered(verdict, said):
    (found,) = conclusion([RECORDS[0] | {"verdict": verdict}, RECORDS[1]])
    assert said in found.says and "significantly" not in found.says and "0 of 4 fits below" in found.detail


def test_what_it_means_for_text_and_for_a_language_model_is_one_sentence_each():
    text, language = conclusion([], contexts=contexts(0.15), keys=keys())
    assert "in runs of 512 is worth 0.15" in text.says and "layers 0, 2; samples of at most 4 runs" in text.detail
    assert "needs about 9,000 random keys" in language.says
    assert "about 360 keys in all" in language.says, "drawn and kept together"
    assert "to the power 0.95 [0.95, 0.95]" in language.detail
    assert conclusion([]) == []


def test_the_answers_side_by_side():
    found = {each.case: each.numbers for each in answers(rates([760.0, 5000.0]), contexts(0.2), patterns(), keys())}
    assert found == {
        "independent tokens": {"": "about 760"},
        "running text": {"": "5.0 times as many"},
        "one query": {"random keys": "more than 384, the most tried", "largest weights": "about 20"},
        "one query of a language model": {
            "random keys": "about 9,000",
            "first and last kept": "about 360",
            "largest weights": "at most 81",
        },
    }
