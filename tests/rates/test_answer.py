"""The answer's numbers, from fits small enough to do by hand."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.coordinates import PARTS, STATISTICS
from attnlimit.rates.answer import answer

LAYERS, HEADS = [0, 5], [0, 1]
MEAN, COV = STATISTICS.index("mean"), STATISTICS.index("cov")


def rates(far: float = 9.0) -> xr.Dataset:
    """Two layers of two heads. What the answer must not read (whole layers, other parts and statistics) is `far`."""
    dims = ("layer", "statistic", "part", "head")
    shape = (2, len(STATISTICS), len(PARTS), 2)
    numbers = {name: np.full(shape, far) for name in ("beta", "beta_high", "chi2", "dof")}

    def put(name, statistic, values):
        numbers[name][:, statistic, PARTS.index("error")] = np.reshape(values, (2, 2))

    put("beta", MEAN, [0.50, 0.44, 0.31, 0.12])
    put("beta", COV, [0.60, 0.50, 0.80, 0.70])
    put("beta_high", MEAN, [0.52, 0.49, 0.36, 0.20])
    put("beta_high", COV, [0.65, 0.4999, 0.85, 0.5])
    put("chi2", MEAN, [10, 8, 12, 9])
    put("chi2", COV, [30, 200, 33, 20])
    put("dof", MEAN, [10, 4, 10, 10])
    put("dof", COV, [3, 10, 1, 10])
    data = xr.Dataset(
        {name: (dims, array) for name, array in numbers.items()}
        | {f"layer_{name}": (dims[:3], np.full(shape[:3], far)) for name in numbers},
        coords={"layer": LAYERS, "statistic": list(STATISTICS), "part": list(PARTS), "head": HEADS},
    )
    data["misfit"] = data["chi2"] > 3 * data["dof"]
    data["saturated"] = data["beta"] < 0.2
    data["horizon"] = (("layer", "head"), [[0.2, 0.9], [1.7, 12.0]])
    return data


@pytest.mark.parametrize("far", [9.0, -9.0, np.nan])
def test_the_answer_by_hand(far):
    """Ranks of H are 1, 2, 3, 4; of the mean's beta 4, 3, 2, 1: correlation -1; of the covariance's 2, 1, 4, 3:
    1 - 6 * 4 / (4 * 15) = 0.6. chi2 / dof: 1, 2, 1.2, 0.9 and 10, 20, 33, 2.
    """
    assert answer(rates(far)) == [
        "beta of 4 heads: mean 0.12 to 0.50; covariance 0.50 to 0.80",
        "Spearman correlation of beta with H, all heads: mean -1.00; covariance +0.60",
        "heads whose 95 % interval lies below 1/2: "
        "mean 3 of 4 (1 of them no power law or saturated); covariance 1 of 4 (1 of them no power law or saturated)",
        "worst fit: mean, layer 0 head 1, chi2 8 for dof 4 (within the threshold); "
        "covariance, layer 5 head 0, chi2 33 for dof 1 (no power law over these n)",
    ]


def test_the_order_of_layers_and_heads_is_of_no_matter():
    data = rates()
    assert answer(data.isel(layer=[1, 0], head=[1, 0])) == answer(data)
