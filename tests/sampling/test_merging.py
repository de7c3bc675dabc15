"""Parts of a layer joined: the same bits however they were cut, scales by the plain formulas, labels of the heads."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import STATISTICS, WHOLE_LAYER, heads_only, whole_layer, with_whole_layer
from attnlimit.sampling.errors import replicate_errors
from attnlimit.sampling.merging import merge_errors, merge_limits
from attnlimit.theory.moments import moments

RNG = np.random.default_rng(0)
HEADS, WIDTH, FEATURES = 2, 2, 4
WIDE = HEADS * WIDTH  # features of the output, as many as the tokens have
OUTPUTS = RNG.normal(size=(60, WIDE)) * [1, 2, 0.5, 3] + 1
SHIFT, CENTRE = RNG.normal(size=WIDE), RNG.normal(size=FEATURES)
SIZES, GROUP = [8, 16], 2


def fourth_moments(rows):
    """Sum of |y - mean|^4 of each head and of all heads side by side."""
    centred = rows - rows.mean(0)
    units = [centred[:, :WIDTH], centred[:, WIDTH:], centred]
    return [((unit**2).sum(1) ** 2).sum() for unit in units]


def limit_parts(cuts):
    """Blocks of ten outputs, so many a part."""
    blocks = [moments(OUTPUTS[start : start + 10]) for start in range(0, 60, 10)]
    parts, first = [], 0
    for count in cuts:
        mine = range(first, first + count)
        data = xr.Dataset(
            {
                "output_count": ("block", np.array([blocks[i].count for i in mine])),
                "output_mean": (("block", "feature"), np.reshape([blocks[i].mean for i in mine], (-1, WIDE))),
                "output_scatter": (
                    ("block", "feature", "feature_2"),
                    np.reshape([blocks[i].scatter for i in mine], (-1, WIDE, WIDE)),
                ),
                "fourth_moment": (
                    ("block", "unit"),
                    np.reshape([fourth_moments(OUTPUTS[10 * i : 10 * i + 10]) for i in mine], (-1, HEADS + 1)),
                ),
                "output_shift": ("feature", SHIFT),
                "centre": ("feature", CENTRE),
            },
            coords={"block": list(mine)},
        )
        parts.append(data)
        first += count
    return parts


def test_a_limit_is_that_of_all_its_outputs():
    limit = merge_limits(limit_parts([6]), queries=60, population=60)
    np.testing.assert_allclose(limit["limit_mean"], OUTPUTS.mean(0) + SHIFT, rtol=1e-12)
    np.testing.assert_allclose(limit["limit_covariance"], np.cov(OUTPUTS.T, bias=True), rtol=1e-10)
    np.testing.assert_array_equal(limit["head"], [0, 1, WHOLE_LAYER])
    np.testing.assert_array_equal(limit["limit_mean_se"], [0, 0, 0])  # all queries were asked
    np.testing.assert_array_equal(limit["centre"], CENTRE)


def test_some_queries_leave_a_standard_error():
    """sqrt(tr C / q) times the root of 1 - q/N for a mean of q of N outputs."""
    limit = merge_limits(limit_parts([6]), queries=60, population=240)
    spread = OUTPUTS.var(0)
    traces = np.array([spread[:WIDTH].sum(), spread[WIDTH:].sum(), spread.sum()])
    expected = np.sqrt(traces / 60 * (1 - 60 / 240))
    np.testing.assert_allclose(limit["limit_mean_se"], expected, rtol=0.02)
    assert (limit["limit_covariance_se"] > 0).all()


@pytest.mark.parametrize("cuts", [[2, 4], [1, 2, 3], [3, 0, 3], [1] * 6])
def test_a_limit_in_other_parts_has_the_same_bits(cuts):
    whole, cut = (merge_limits(limit_parts(sizes), 60, 240) for sizes in ([6], cuts))
    assert cut.identical(whole)


LIMIT = merge_limits(limit_parts([6]), queries=60, population=240)
SPREAD = RNG.uniform(1, 5, size=HEADS)  # tr V Sigma V^T
COUPLINGS = ("horizon", "horizon_one_sided", "horizon_frobenius", "psi", "seen_variance")
GEOMETRY = xr.Dataset(
    {name: ("head", RNG.uniform(1, 2, size=HEADS)) for name in COUPLINGS}
    | {
        "horizon_published": 7.0,
        "token_mean": ("feature", RNG.normal(size=FEATURES)),
        "token_covariance": (("feature", "feature_2"), np.diag([1.0, 2.0, 3.0, 0.5])),
    },
    coords={"head": range(HEADS)},
)
SAMPLES = [[moments(OUTPUTS[RNG.integers(60, size=size)]) for size in SIZES] for _ in range(8)]


def error_parts(cuts):
    """The same eight replicates, so many a part."""
    parts, first = [], 0
    limit = LIMIT["limit_mean"].values - SHIFT, LIMIT["limit_covariance"].values
    for count in cuts:
        mine = range(first, first + count)
        measured = replicate_errors([SAMPLES[i] for i in mine], *limit, HEADS, GROUP)
        data = {"error": (("statistic", "head", "replicate", "n"), measured["error"])}
        data["mean_difference"] = (("group", "n", "feature"), measured["mean_difference"])
        data["cov_difference"] = (("group", "n", "feature", "feature_2"), measured["cov_difference"])
        coords = {"statistic": list(STATISTICS), "replicate": list(mine), "n": SIZES, "layer": 5}
        coords["head"] = with_whole_layer(HEADS)
        coords["group"] = np.unique(np.array(mine) // GROUP)
        parts.append(xr.Dataset(data, coords=coords))
        first += count
    return parts


def joined(cuts):
    return merge_errors(error_parts(cuts), LIMIT, GEOMETRY, SPREAD)


@pytest.mark.parametrize("cuts", [[2, 6], [4, 4], [2, 2, 2, 2]])
def test_errors_in_other_parts_have_the_same_bits(cuts):
    assert joined(cuts).identical(joined([8]))


def test_the_couplings_of_the_heads_are_attached_and_the_whole_layer_has_none():
    errors = joined([4, 4])
    np.testing.assert_array_equal(errors["head"], [0, 1, WHOLE_LAYER])
    for name in COUPLINGS:
        np.testing.assert_array_equal(heads_only(errors)[name], GEOMETRY[name])
        assert np.isnan(whole_layer(errors)[name])
    assert errors["horizon_published"] == 7  # one number a layer
    assert not {"token_mean", "token_covariance"} & set(errors)


def test_scales_are_those_of_single_values_and_of_the_limit():
    errors = joined([8])
    covariance = LIMIT["limit_covariance"].values
    blocks = covariance[:WIDTH, :WIDTH], covariance[WIDTH:, WIDTH:], covariance
    expected = [
        np.sqrt([*SPREAD, sum(SPREAD)]),
        [np.linalg.norm(block) for block in blocks],
        [np.linalg.norm(block, 2) for block in blocks],
    ]
    expected = np.array(expected)  # (statistic, head + 1)
    np.testing.assert_allclose(errors["limit_scale"], expected, rtol=1e-9)
    for name, moment in (("mean", "mean"), ("cov", "covariance"), ("cov_spectral", "covariance")):
        np.testing.assert_array_equal(errors["limit_se"].sel(statistic=name), LIMIT[f"limit_{moment}_se"])


def test_differences_are_the_means_over_all_replicates():
    errors = joined([2, 6])
    means = np.array([[sample.mean for sample in drawn] for drawn in SAMPLES])  # (replicate, n, feature)
    difference = means.mean(0) - (LIMIT["limit_mean"].values - SHIFT)
    np.testing.assert_allclose(errors["mean_difference"], difference, rtol=1e-10)
    gram = whole_layer(errors["mean_gram"]).mean(("group", "group_2"))
    np.testing.assert_allclose(gram, (difference**2).sum(1), rtol=1e-10)
