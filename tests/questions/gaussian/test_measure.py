"""Gaussian settings and samples: addresses, predicted couplings, and agreement with the closed form."""

import numpy as np
import pytest

from attnlimit.questions.gaussian.measure import (
    errors_by_reference,
    errors_of,
    finite_reference,
    horizon_settings,
    published_settings,
    simulate,
    tilted_settings,
)
from attnlimit.sampling.errors import distances
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol

SEED = 5


def protocol(sizes, replicates, nested=True, dtype="float64", group=1):
    return Protocol(sizes, replicates, group, nested, SEED, "cpu", dtype)


def samples(setting, sizes, replicates, **changes):
    return list(simulate(setting, protocol(sizes, replicates, **changes)))


@pytest.mark.parametrize("d", [1, 2, 10, 50])
def test_the_scale_is_the_horizon(d):
    settings = horizon_settings([d], 10, [0.05, 2], SEED)
    assert len(settings) == (2 if d == 1 else 4)
    for setting, scale in zip(settings, [0.05, 2, 0.05, 2], strict=False):
        couplings = setting.couplings()
        assert couplings["horizon"] == pytest.approx(scale, rel=1e-12)
        assert couplings["psi"] >= scale**2 * (1 - 1e-12)
        assert couplings["horizon_published"] == pytest.approx(np.sqrt(d) * scale, rel=1e-4)
        if "anisotropic" not in setting.name:
            assert couplings["psi"] == pytest.approx(scale**2, rel=1e-12)


def test_a_constant_tilt_is_as_long_as_asked_and_leaves_the_horizon():
    settings = tilted_settings(4, [0.5, 2], [0, 1.5], SEED)
    found = [setting.couplings() for setting in settings]
    assert [couplings["horizon"] for couplings in found] == pytest.approx([0.5, 0.5, 2, 2])
    assert [couplings["constant_tilt"] for couplings in found] == pytest.approx([0, 1.5, 0, 1.5])
    assert len({setting.name for setting in settings}) == 4
    (plain, *_) = horizon_settings([4], 10, [0.5], SEED)
    np.testing.assert_allclose(settings[0].limit()[1], plain.limit()[1], rtol=1e-12)


def test_published_horizon_leaves_the_softmax_scale_out():
    for setting in published_settings(50, 0.1, [0.05, 50], SEED):
        couplings = setting.couplings()
        assert couplings["horizon_published"] == pytest.approx(np.sqrt(50) * couplings["horizon"], rel=1e-4)
        assert couplings["psi"] == pytest.approx(couplings["horizon"] ** 2, rel=1e-12)


def test_a_new_scale_or_dimension_or_replicate_changes_no_other_number():
    few = {setting.name: setting for setting in horizon_settings([2, 3], 10, [0.5, 2], SEED)}
    many = {setting.name: setting for setting in horizon_settings([1, 3, 2], 10, [2, 0.1, 0.5], SEED)}
    assert few.keys() < many.keys()
    for name, setting in few.items():
        first, again = samples(setting, [8, 20], 2), samples(many[name], [8, 20], 3)
        np.testing.assert_equal(again[:2], first)
    means = [samples(setting, [20], 1)[0][0].mean[0] for setting in many.values()]
    assert len(set(means)) == len(means)  # no two settings share their tokens


def test_published_settings_share_weights_and_not_tokens():
    one, other = published_settings(4, 0.1, [3, 12], SEED)
    np.testing.assert_allclose(2 * one.heads.query_weight, other.heads.query_weight)
    np.testing.assert_array_equal(published_settings(4, 0.1, [12], SEED)[0].heads.key_weight, other.heads.key_weight)
    unequal = samples(one, [20], 1)[0][0].mean, samples(other, [20], 1)[0][0].mean
    assert not np.allclose(*unequal)


def test_nested_sizes_share_tokens_and_others_do_not():
    (setting,) = horizon_settings([1], 10, [1], SEED)
    ((small, large),) = samples(setting, [16, 32], 1)
    assert small.mean == samples(setting, [16, 64], 1)[0][0].mean
    ((apart, own),) = samples(setting, [16, 32], 1, nested=False)
    assert len({float(each.mean[0]) for each in (small, large, apart, own)}) == 4


@pytest.mark.parametrize("horizon", [0.3, 0.5])
@pytest.mark.parametrize("kind", ["horizon", "tilted", "published"])
def test_means_of_moments_are_within_four_standard_errors_of_the_limit(kind, horizon):
    """At small H the bias, O(1/n), is well below the noise that so few replicates leave."""
    n, replicates = 3000, 25
    if kind == "horizon":
        *_, setting = horizon_settings([3], 10, [horizon], SEED)
    elif kind == "tilted":
        (setting,) = tilted_settings(3, [horizon], [0.8], SEED)
    else:
        (unit,) = published_settings(4, 1.0, [1], SEED)
        (setting,) = published_settings(4, 1.0, [horizon / unit.couplings()["horizon"]], SEED)
    assert setting.couplings()["horizon"] == pytest.approx(horizon)
    mean, covariance = setting.limit()
    found = [sizes[0] for sizes in samples(setting, [n], replicates)]
    for drawn, limit in (
        (np.array([sample.mean for sample in found]), mean),
        (np.array([sample.covariance for sample in found]), covariance),
    ):
        se = drawn.std(0, ddof=1) / np.sqrt(replicates)
        assert (np.abs(drawn.mean(0) - limit) < 4 * se).all()
        assert np.linalg.norm(se) < 0.05 * np.sqrt(np.trace(covariance))  # a wrong limit would be seen


def test_a_finite_reference_is_off_the_limit_and_not_the_samples():
    (setting,) = published_settings(4, 0.1, [50], SEED)
    limit, reference = setting.limit(), finite_reference(setting, 300, protocol([300], 1))
    error = distances(reference[0] - limit[0], reference[1] - limit[1], 1)
    assert error["cov"][0] > 1e-3 * np.linalg.norm(limit[1])
    again = finite_reference(setting, 300, protocol([16, 32], 5))
    np.testing.assert_array_equal(again[1], reference[1])
    ((same_size,),) = samples(setting, [300], 1)
    assert not np.allclose(same_size.covariance, reference[1])


def test_float32_is_far_below_the_errors():
    for setting in horizon_settings([10], 10, [0.05, 5], SEED):
        errors = [errors_of(setting, protocol([256], 2, dtype=dtype)) for dtype in ("float32", "float64")]
        np.testing.assert_allclose(errors[0]["error"][:2], errors[1]["error"][:2], rtol=1e-4)


def test_layout_of_the_store():
    settings = horizon_settings([2], 10, [0.5, 2], SEED)
    errors = measure_settings(settings, errors_of, protocol([8, 16, 32], 4, group=2), "test")
    assert errors["error"].dims == ("setting", "statistic", "replicate", "n")
    assert errors["setting"].values.tolist() == [setting.name for setting in settings]
    assert errors["mean_gram"].dims == ("setting", "n", "group", "group_2")
    assert errors["mean_gram"].shape == (4, 3, 2, 2)
    assert errors["horizon"].dims == ("setting",)
    sample, limit = samples(settings[1], [8, 16, 32], 4)[3][2], settings[1].limit()
    one = errors.sel(setting=settings[1].name)
    found = one["error"].sel(replicate=3, n=32)
    assert found.sel(statistic="mean") == pytest.approx(np.linalg.norm(sample.mean - limit[0]))
    assert found.sel(statistic="cov") == pytest.approx(np.linalg.norm(sample.covariance - limit[1]))
    assert one["limit_scale"].sel(statistic="cov") == pytest.approx(np.linalg.norm(limit[1]))
    values, covariance = settings[1].heads.value_weight[0], np.diag(settings[1].variances)
    spread = np.sqrt(np.trace(values @ covariance @ values.T))
    assert one["limit_scale"].sel(statistic="mean") == pytest.approx(spread)
    np.testing.assert_array_equal(errors["dimension"], [2, 2, 2, 2])
    np.testing.assert_array_equal(errors["isotropic"], [True, True, False, False])


def test_each_reference_is_compared_with_the_same_samples():
    (setting,) = published_settings(4, 0.1, [50], SEED)
    how = protocol([8, 16, 32], 4, group=2)
    exact, finite = errors_by_reference(setting, ["exact", "finite"], 300, how)
    assert (exact["exact"], finite["exact"]) == (True, False)
    assert exact["scale"] == finite["scale"] == 50
    np.testing.assert_array_equal(exact["error"], errors_of(setting, how)["error"])
    mean, covariance = finite_reference(setting, 300, how)
    for replicate, drawn in enumerate(samples(setting, [8, 16, 32], 4)):
        for i, sample in enumerate(drawn):
            expected = np.linalg.norm(sample.mean - mean), np.linalg.norm(sample.covariance - covariance)
            assert finite["error"][:2, replicate, i] == pytest.approx(expected)


def test_rules_have_draws_of_their_own():
    """The same name under another rule is another address."""
    (setting,) = horizon_settings([1], 10, [1], SEED)
    other = setting._replace(rule="simulate_other")
    assert samples(setting, [16], 1)[0][0].mean != samples(other, [16], 1)[0][0].mean
