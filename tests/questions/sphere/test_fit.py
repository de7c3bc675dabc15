"""The growth of the constants with the radius: planted powers, exact ends, draws beside them."""

import numpy as np
import pytest

from attnlimit.questions.sphere.fit import exact_constants, growth_of
from support.claims import constants_fit


def test_a_planted_power_and_exponential_are_found():
    found = growth_of(lambda r: (3 * r**1.5, np.exp(0.2 * r)), 4, span=30)
    np.testing.assert_allclose(found["radius"][[0, -1]], [0.2, 60])
    np.testing.assert_allclose(found["local_power"].sel(statistic="mean"), 1.5)
    radius = found["radius"].values
    np.testing.assert_allclose(
        found["local_power"].sel(statistic="cov"), 0.2 * np.diff(radius) / np.diff(np.log(radius))
    )


@pytest.mark.parametrize(("dimension", "ends"), [(1, (1, 1)), (3, (1, 2)), (50, (1, 2))])
def test_exact_powers_pass_six_and_end(dimension, ends):
    powers = growth_of(lambda r: exact_constants(dimension, r), dimension, span=100)["local_power"]
    np.testing.assert_allclose(powers[:, -1], ends, atol=0.01)
    assert powers.sel(statistic="cov").max() == pytest.approx(6, abs=0.01)


def test_draws_stand_beside_their_limit():
    found = constants_fit(dimensions=(1, 3, 50))
    np.testing.assert_allclose(found["simulated"], found["exact"])
    np.testing.assert_allclose(found["simulated_se"], 0, atol=1e-12)
    np.testing.assert_allclose(found["exact"][0], exact_constants(1, 0.5))
    assert found["law"].values.tolist() == ["interval, d = 1", "sphere, d = 3", "sphere, d = 50"]
    assert found["constant"].dims == ("law", "statistic", "place")
