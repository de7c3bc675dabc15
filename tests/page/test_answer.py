"""The answer's numbers, from fits small enough to do by hand."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.page.answer import EXACT, about, about_limits, answer, capital, context_answer
from support.claims import contexts_fit

LAYERS, HEADS = [0, 5], [0, 1]
MEAN, COV = STATISTICS.index("mean"), STATISTICS.index("cov")


def rates(far: float = 9.0) -> xr.Dataset:
    """Two layers of two heads. What the answer must not read (whole layers, other parts and statistics) is `far`."""
    dims = ("layer", "statistic", "part", "head")
    shape = (2, len(STATISTICS), len(PARTS), 2)
    numbers = {name: np.full(shape, far) for name in ("beta", "beta_low", "beta_high", "chi2", "dof")}

    def put(name, statistic, values):
        numbers[name][:, statistic, PARTS.index("error")] = np.reshape(values, (2, 2))

    put("beta", MEAN, [0.50, 0.44, 0.31, 0.12])
    put("beta", COV, [0.60, 0.50, 0.80, 0.70])
    put("beta_low", MEAN, [0.48, 0.41, 0.26, 0.05])
    put("beta_low", COV, [0.55, 0.48, 0.75, 0.65])
    put("beta_high", MEAN, [0.52, 0.49, 0.36, 0.20])
    put("beta_high", COV, [0.65, 0.4999, 0.85, 0.5])
    put("chi2", MEAN, [10, 8, 12, 9])
    put("chi2", COV, [30, 200, 33, 20])
    put("dof", MEAN, [10, 4, 10, 10])
    put("dof", COV, [3, 10, 1, 10])
    data = xr.Dataset(
        {name: (dims, array) for name, array in numbers.items()},
        coords={"layer": LAYERS, "statistic": list(STATISTICS), "part": list(PARTS), "head": HEADS},
    ).reindex(head=[*HEADS, WHOLE_LAYER], fill_value=far)
    data["misfit"] = data["chi2"] > 3 * data["dof"]
    data["saturated"] = data["beta"] < 0.2
    data["limit_se_share"] = 0 * data["beta"].fillna(0)
    data["limit_uncertain"] = data["limit_se_share"] > 0.1
    data["horizon"] = (("layer", "head"), [[0.2, 0.9, np.nan], [1.7, 12.0, np.nan]])
    data["bound_v3"] = 1 / (2 * (1 + data["horizon"] ** 2))
    needed = np.full((3, len(STATISTICS), 2, 3), far)
    needed[1, MEAN, :, :2] = [[212.4, 64], [761.2, np.inf]]  # of the lower median 212.4
    needed[1, COV, :, :2] = [[1500, 5000], [9100, 8000]]
    data["tokens_needed"] = (("eps", "statistic", "layer", "head"), needed)
    data = data.assign_coords(eps=[0.10, 0.05, 0.01], n=[64, 512, 4096])
    facts = {"model": {"name": "owner/small"}, "corpus": {"name": "a text"}, "population": 50000}
    return data.assign_attrs(facts)


def test_one_layer_is_no_layers():
    assert "(1 layer of 2 heads)" in about(rates(np.nan).isel(layer=[0]))


@pytest.mark.parametrize("far", [9.0, -9.0, np.nan])
def test_the_answer_by_hand(far):
    """chi2 / dof: 1, 2, 1.2, 0.9 and 10, 20, 33, 2. The first head alone has its interval within 0.05 of 1/2, that
    of 0.44 has it across the edge. Four heads in two layers are
    too few for a coefficient on the curve without any one of them.
    """
    lines = list(answer(rates(far), 0.1).values())
    assert lines[:5] == [
        "owner/small (2 layers of 2 heads) on 50,000 tokens of a text, n from 64 to 4,096:",
        "half of the heads are within 5 % of their limit mean after about 210 tokens; "
        "the slowest head needs more than 40,960 (extrapolated).",
        "1 of 4 heads are within 5 % of their limit covariance by the largest n measured, 4,096.",
        "for the mean of the outputs, with n from 64 to 4,096, the 95 % interval of β lies within 0.05 of 1/2 in 1 "
        "of 4 heads of small, across the edge in 1; layer 5 head 1, with a horizon of 12, has 0.12; "
        "layer 5 head 0, with a horizon of 1.7, has 0.31.",
        "for the covariance of the outputs β lies between 0.50 and 0.80, above 1/2 in 3 of 4 heads; "
        "3 of these fits are no power law over these n, or saturated (hollow in the figures).",
    ]
    assert lines[5].startswith(
        "coefficient of β on the paper's curve 1/(2(1+H²)) within layers, over unsaturated heads"
    )
    assert lines[5].endswith(": mean too few heads; covariance too few heads")
    assert lines[6:] == [
        "heads whose 95 % interval of β lies below 1/2: "
        "mean 3 of 4 (1 of them no power law or saturated); covariance 1 of 4 (1 of them no power law or saturated)",
        "worst fit: mean layer 0 head 1, χ² 8 for 4 degrees of freedom (within the threshold); "
        "covariance layer 5 head 0, χ² 33 for 1 degrees of freedom (no power law over these n)",
    ]


def test_the_rates_of_heads_are_counted_by_their_intervals_and_exceptions_named_unless_they_are_many():
    data = rates()
    place = {"statistic": "mean", "part": "error", "head": HEADS}

    def put(beta, half=0.01):
        for name, shift in (("beta", 0), ("beta_low", -half), ("beta_high", half)):
            data[name].loc[place] = np.array(beta) + shift
        return rates_mean(data)

    assert put([[0.47, 0.5], [0.53, 0.5]]).endswith(
        "the 95 % interval of β lies within 0.05 of 1/2 in 4 of 4 heads of small."
    )
    assert put([[0.47, 0.5], [0.53, 0.5]], half=0.06).endswith("in 0 of 4 heads of small, across the edge in 4.")
    assert put([[0.1, 0.2], [0.3, 0.4]]).endswith("; in 4 it lies entirely outside, with rates between 0.10 and 0.40.")
    assert capital(rates_mean(data)).startswith(
        "For the mean of the outputs, with n from 64 to 4,096, the 95 % interval"
    )


def rates_mean(data: xr.Dataset) -> str:
    return answer(data, 0.1)["rates_mean"]


def test_the_order_of_layers_and_heads_is_of_no_matter():
    data = rates()
    assert answer(data.isel(layer=[1, 0], head=[1, 0, 2]), 0.1) == answer(data, 0.1)


def test_heads_that_are_within_at_once_or_never_known():
    data = rates()
    data["tokens_needed"] = data["tokens_needed"] * 0 + 64
    assert "after at most 64 tokens; the slowest head needs at most 64" in answer(data, 0.1)["tokens_mean"]
    data["tokens_needed"] = data["tokens_needed"] * np.nan
    assert answer(data, 0.1)["tokens_mean"] == "for no head is it known when it is within 5 % of its limit mean."


def test_limits_that_are_not_exact_are_told_with_the_heads_they_mark():
    data = rates()
    assert about_limits(data) == EXACT and "limits" not in answer(data, 0.1)
    shares = np.array([[0.01, 0.02], [0.03, 0.2]])
    data["limit_se_share"].loc[{"statistic": "mean", "part": "error", "head": HEADS}] = shares
    data["limit_se_share"].loc[{"statistic": "cov", "part": "error", "head": HEADS}] = shares / 2
    assert about_limits(data).endswith(
        "at the largest n: mean median 2.5 %, largest 20 %; covariance median 1.2 %, largest 10 %; "
        "0 of 8 fits are marked for it"
    )
    data["limit_uncertain"] = data["limit_se_share"] > 0.1
    assert about_limits(data).endswith(
        "1 of 8 fits are marked for it, and no verdict rests on them: layer 5 head 1 (mean)"
    )
    lines = answer(data, 0.1)
    assert lines["limits"] == about_limits(data)
    assert "mean 3 of 4 (1 of them no power law or saturated or of an uncertain limit)" in lines["below_half"]


def test_what_a_context_is_worth_is_told_from_the_longest_runs():
    fits = contexts_fit(share=0.2, relative=0.25)
    (line,) = context_answer(fits).values()
    assert line == (
        "mean squared error of tokens in runs of 256 consecutive ones, over that of independent tokens: "
        "5.0 [4.0, 6.2] for the mean, 5.0 [4.0, 6.2] for the covariance "
        "(medians over the heads of layers 0, 5)"
    )
    assert context_answer(contexts_fit(share=np.nan)) == {}
    assert "of layer 5)" in context_answer(fits.sel(layer=[5]))["contexts"]
