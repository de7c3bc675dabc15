"""Settings side by side: their order, their dimensions, and labels that are one number a setting."""

from typing import NamedTuple

import numpy as np
import pytest

from attnlimit.base.coordinates import STATISTICS
from attnlimit.sampling.layout import measure_settings, setting_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.theory.moments import moments

PROTOCOL = Protocol([10, 20, 40], replicates=6, group=3, nested=True, seed=1, device="cpu", dtype="float64")
LIMIT = np.array([0.3, 0.0]), np.diag([1.0, 4.0])


def samples(seed):
    """Moments of plain normal vectors: any samples will do."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(PROTOCOL.replicates, PROTOCOL.sizes[-1], 2))
    return [[moments(drawn[:size]) for size in PROTOCOL.sizes] for drawn in rows]


class Seeded(NamedTuple):
    seed: int

    @property
    def name(self) -> str:
        return f"seed {self.seed}"


def errors_of(setting, protocol):
    coupling = {"horizon": float(setting.seed)}
    return setting_errors(samples(setting.seed), *LIMIT, 9.0, coupling, protocol.group) | {"dimension": 2}


def test_settings_lie_side_by_side_in_their_order():
    errors = measure_settings([Seeded(5), Seeded(3)], errors_of, PROTOCOL, "test")
    assert dict(errors.sizes) == {"setting": 2, "statistic": 3, "replicate": 6, "n": 3, "group": 2, "group_2": 2}
    assert errors["setting"].values.tolist() == ["seed 5", "seed 3"]
    assert errors["statistic"].values.tolist() == list(STATISTICS)
    np.testing.assert_array_equal(errors["horizon"], [5, 3])
    np.testing.assert_array_equal(errors["dimension"], [2, 2])
    np.testing.assert_array_equal(errors["n"], PROTOCOL.sizes)
    for seed in (5, 3):
        for replicate, drawn in enumerate(samples(seed)):
            for i, sample in enumerate(drawn):
                here = errors["error"].isel(replicate=replicate, n=i).sel(setting=f"seed {seed}")
                mean, covariance = sample.mean - LIMIT[0], sample.covariance - LIMIT[1]
                exact = np.linalg.norm(mean), np.linalg.norm(covariance), np.linalg.norm(covariance, 2)
                assert here.values == pytest.approx(exact, rel=1e-12)


def test_a_mean_is_scaled_by_the_values_and_a_covariance_by_its_limit():
    errors = measure_settings([Seeded(5)], errors_of, PROTOCOL, "test")
    np.testing.assert_allclose(errors["limit_scale"], [[3, np.hypot(1, 4), 4]])  # (setting, statistic)


def test_products_of_group_means_give_the_norm_of_the_mean_difference():
    errors = measure_settings([Seeded(5)], errors_of, PROTOCOL, "test")
    mean = np.mean([[sample.mean for sample in drawn] for drawn in samples(5)], axis=0) - LIMIT[0]  # (n, feature)
    np.testing.assert_allclose(errors["mean_gram"][0].mean(("group", "group_2")), (mean**2).sum(1), rtol=1e-10)
