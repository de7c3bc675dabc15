"""The summary of a downstream task on planted power laws."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.downstream.fit import bend_weights, summary
from attnlimit.questions.downstream.grouped import resample
from attnlimit.questions.downstream.power import planted
from attnlimit.stats.power_law import slope_weights

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
    data = found(noise=0)
    assert float(data["beta"]) == pytest.approx(0.5) and float(data["bend"]) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(data["embedding_error"], 2 * data["n"] ** -0.5)
    np.testing.assert_allclose(np.exp(data["intercept"]), 2)
    np.testing.assert_allclose(data["local_slope"], 0.5)
    np.testing.assert_allclose(data["accuracy"], 0.75)
    np.testing.assert_allclose(data["agreement"], 0.5)
    np.testing.assert_allclose(data["logit_error"], 2 * data["n"] ** -0.5)
    np.testing.assert_allclose(data["divergence"], 0.5 / data["n"])


def test_logits_are_averaged_in_squares_and_divergences_as_they_are():
    errors = planted(noise=0)
    errors["logit_error"][:] = 3.0
    errors["logit_error"][:, 0] = 4.0
    errors["divergence"][::2] = 1.0
    errors["divergence"][1::2] = 3.0
    data = summary(errors, resample(errors["cluster"].values, RESAMPLED, np.random.default_rng(1)))
    for end in ("", "_low", "_high"):
        np.testing.assert_allclose(data["logit_error" + end], np.sqrt(12.5))
        np.testing.assert_allclose(data["divergence" + end], 2)  # each article has one of both


def test_a_draw_without_error_is_refused():
    errors = planted()
    errors["embedding_error"][0, 0, 0] = 0
    with pytest.raises(ValueError, match="lower measure_downstream.sizes"):
        summary(errors, resample(errors["cluster"].values, 10, np.random.default_rng(1)))
