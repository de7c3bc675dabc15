"""The growth of the constants on a sphere: a planted power, a planted exponential, and what is left out."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.coordinates import PARTS, STATISTICS
from attnlimit.rates.constants import fit_constants
from attnlimit.rates.power_law import Bootstrap

SCALES = np.array([0.4, 0.7, 1.0, 1.5, 2.2, 3.0, 1000.0])  # the last a published one
PUBLISHED = SCALES == 1000


def sphere(constant, radius=1.0, saturated=False, noise=0.05) -> tuple[xr.Dataset, xr.Dataset]:
    """Errors constant(R) n^-0.4 of tokens on the sphere of radius R, brought to one sphere for all, and their fits."""
    n, support = np.array([100, 400, 1600]), SCALES * radius
    drawn = np.exp(noise * np.random.default_rng(0).normal(size=(len(SCALES), 40, 3))) * n**-0.4
    on_one_sphere = np.stack([constant(np.minimum(support, 50)) / support**degree for degree in (1, 2)])
    error = on_one_sphere[..., None, None] * drawn  # (statistic, setting, replicate, n)
    errors = xr.Dataset(
        {"error": (("statistic", "setting", "replicate", "n"), error), "scale": ("setting", SCALES)},
        coords={"n": n, "statistic": ["mean", "cov"]},
        attrs={"radius": radius},
    )
    dims, shape = ("statistic", "part", "setting"), (len(STATISTICS), len(PARTS), len(SCALES))
    flags = np.broadcast_to(saturated, shape).copy()
    labels = {"statistic": list(STATISTICS), "part": list(PARTS)}
    return errors, xr.Dataset({"saturated": (dims, flags), "published": ("setting", PUBLISHED)}, coords=labels)


def fitted(*arguments, **changes) -> xr.Dataset:
    return fit_constants(*sphere(*arguments, **changes), Bootstrap(300, True, np.random.default_rng(1)))


@pytest.mark.parametrize("radius", [1.0, 2.0])
@pytest.mark.parametrize("power", [1.0, 3.0])
def test_a_planted_power_is_found_and_fits_better(power, radius):
    found = fitted(lambda support: support**power, radius=radius)
    np.testing.assert_allclose(found["power"], power, atol=0.05)
    np.testing.assert_array_equal(found["share_power_fits_better"], 1)
    np.testing.assert_array_equal(found["radii"], 6)
    np.testing.assert_allclose(found["radius_factor"], 3 / 0.4)
    np.testing.assert_array_equal(found["statistic"], ["mean", "cov"])


def test_a_planted_exponential_fits_better():
    found = fitted(lambda support: np.exp(1.5 * support))
    np.testing.assert_array_equal(found["share_power_fits_better"], 0)


def test_noise_as_large_as_the_growth_decides_nothing():
    share = fitted(lambda support: support**0.1, noise=2.0)["share_power_fits_better"]
    assert ((share > 0) & (share < 1)).all()


def test_saturated_settings_and_published_scales_are_left_out():
    """What they hold is far off the power of the others."""
    strong = SCALES > 2
    found = fitted(lambda support: np.where(support > 2, 1e4, support**2), saturated=strong)
    np.testing.assert_array_equal(found["radii"], 4)
    np.testing.assert_allclose(found["radius_factor"], 1.5 / 0.4)
    np.testing.assert_allclose(found["power"], 2, atol=0.05)


def test_two_radii_are_no_line_and_none_no_error():
    for enough, factor in ((SCALES >= 1, 0.7 / 0.4), (True, 1.0)):
        found = fitted(lambda support: support, saturated=enough)
        np.testing.assert_array_equal(found["radii"], 2 if factor > 1 else 0)
        np.testing.assert_allclose(found["radius_factor"], factor)
        assert np.isnan(found["power"]).all() and np.isnan(found["share_power_fits_better"]).all()
