"""The summary of a downstream task on planted power laws."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.downstream.fit import (
    AGGREGATIONS,
    DECLARED,
    bend_weights,
    reliability,
    slope_weights,
    summary,
    tertiles,
)
from attnlimit.questions.downstream.grouped import resample
from support.downstream import SIZES, planted

RESAMPLED = 300


def found(**changes) -> xr.Dataset:
    errors = planted(**changes)
    return summary(errors, resample(errors["cluster"].values, RESAMPLED, np.random.default_rng(1)))


def test_slopes_and_bends_of_exact_laws():
    sizes = np.array([32, 90, 256, 724, 2048])
    assert slope_weights(sizes) @ np.log(3 * sizes**-0.4) == pytest.approx(0.4)
    assert bend_weights(sizes) @ np.log(3 * sizes**-0.4) == pytest.approx(0)
    bent = np.where(sizes <= 256, 1.0, (sizes / 256) ** -0.2) * sizes**-0.3
    assert bend_weights(sizes) @ np.log(bent) == pytest.approx(0.2)
    even = sizes[:4]
    assert bend_weights(even) @ np.log(even**-0.4) == pytest.approx(0)


def test_a_power_law_without_noise_is_found_exactly():
    data = found(noise=0, fall=0)
    assert float(data["beta"]) == pytest.approx(0.5) and float(data["bend"]) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(data["embedding_error"], 2 * SIZES**-0.5)
    np.testing.assert_allclose(np.exp(data["intercept"]), 2)
    np.testing.assert_allclose(data["local_slope"], 0.5)
    np.testing.assert_allclose(data["tertile_beta"], 0.5)
    np.testing.assert_allclose(data["accuracy"], 0.75)
    np.testing.assert_allclose(data["agreement"], 0.5)


def test_texts_with_larger_horizons_that_converge_more_slowly_are_seen():
    data = found(fall=0.15)
    outcome, aggregation = DECLARED
    declared = data.sel(outcome=outcome, aggregation=aggregation)
    assert declared["correlation_high"] < 0 and declared["declared"]
    assert int(data["declared"].sum()) == 1
    rates = data["tertile_beta"].values
    assert rates[0] > rates[1] > rates[2] and data["tertile_difference_high"] < 0
    assert data["tertile_to"][0] <= data["tertile_from"][1] < data["tertile_to"][2]
    assert (data["corrected_probability"] >= data["probability"]).all()


def test_each_aggregation_is_what_its_name_says():
    horizon = np.array([[[1.0, 2], [3, 5]], [[9, 1], [1, 1]]])  # (text, layer, head)
    expected = {"largest": [5, 9], "mean": [2.75, 3], "mean_of_largest": [3.5, 5], "largest_of_last_layer": [5, 1]}
    for name, values in expected.items():
        np.testing.assert_allclose(AGGREGATIONS[name][1](horizon), values)


def test_reliability_is_the_share_that_is_no_noise():
    stream = np.random.default_rng(2)
    truth, noise = stream.normal(size=(4000, 1)), stream.normal(size=(4000, 2))
    assert reliability(truth + noise) == pytest.approx(1 / 1.5, abs=0.04)  # variance 1, and 1/2 of the mean of two
    assert reliability(noise) < 0.1 and reliability(truth + 0 * noise) == 1


def test_thirds_are_of_all_texts():
    thirds = tertiles(np.array([5.0, 1, 4, 2, 3, 0, 9]))
    assert [third.tolist() for third in thirds] == [[5, 1, 3], [4, 2], [0, 6]]


def test_a_draw_without_error_is_refused():
    errors = planted()
    errors["embedding_error"][0, 0, 0] = 0
    with pytest.raises(ValueError, match="lower measure_downstream.sizes"):
        summary(errors, resample(errors["cluster"].values, 10, np.random.default_rng(1)))
