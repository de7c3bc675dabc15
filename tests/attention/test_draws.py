"""A draw depends on its address and on nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from attnlimit.attention.draws import draws

HERE = {"population": 1000, "sizes": [8, 16, 32], "nested": True, "replacement": True}
ADDRESS = {"seed": 7, "layer": 2, "replicate": 3}
sizes_of_samples = st.sets(st.integers(1, 60), min_size=1, max_size=5).map(sorted)


def rows(**changes) -> np.ndarray:
    return draws(**(HERE | ADDRESS | changes))[0][0]


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("replacement", [True, False])
def test_the_same_address_gives_the_same_draw(nested, replacement):
    once, twice = (draws(**(HERE | ADDRESS | {"nested": nested, "replacement": replacement})) for _ in range(2))
    for (first, served), (second, again) in zip(once, twice, strict=True):
        np.testing.assert_array_equal(first, second)
        assert served == again


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("change", [{"seed": 8}, {"layer": 3}, {"replicate": 4}, {"layer": 3, "replicate": 2}])
def test_another_address_gives_another_draw(nested, change):
    assert not np.array_equal(rows(nested=nested), rows(nested=nested, **change))


@given(sizes_of_samples, st.integers(1, 100))
def test_a_larger_size_keeps_the_earlier_draw(sizes, more):
    """With replacement, so that a run can be extended without a change to what it has."""
    shorter, longer = rows(sizes=sizes), rows(sizes=[*sizes, sizes[-1] + more])
    np.testing.assert_array_equal(shorter, longer[: sizes[-1]])


@given(sizes_of_samples, st.booleans(), st.integers(0, 50))
def test_without_replacement_nothing_repeats(sizes, nested, replicate):
    for drawn, served in draws(60, sizes, nested, False, 7, 2, replicate):
        assert len(np.unique(drawn)) == len(drawn) == served[-1]
        assert drawn.min() >= 0 and drawn.max() < 60


def test_the_whole_population_can_be_drawn_without_replacement():
    np.testing.assert_array_equal(np.sort(rows(population=32, replacement=False)), np.arange(32))


@pytest.mark.parametrize("replacement", [True, False])
def test_nested_is_one_sample_and_independent_one_for_each_size(replacement):
    (sample,) = draws(**(HERE | ADDRESS | {"replacement": replacement}))
    assert (len(sample[0]), sample[1]) == (32, [8, 16, 32])
    apart = draws(**(HERE | ADDRESS | {"replacement": replacement, "nested": False}))
    assert [(len(drawn), served) for drawn, served in apart] == [(8, [8]), (16, [16]), (32, [32])]
    assert not np.array_equal(apart[0][0], apart[1][0][:8])
    assert not np.array_equal(apart[2][0], sample[0])


@settings(max_examples=50)
@given(sizes_of_samples, st.booleans(), st.data())
def test_an_independent_draw_does_not_feel_the_other_sizes(sizes, replacement, data):
    size = data.draw(st.sampled_from(sizes))
    alone = rows(sizes=[size], nested=False, replacement=replacement)
    among = {served[0]: drawn for drawn, served in draws(1000, sizes, False, replacement, **ADDRESS)}
    np.testing.assert_array_equal(alone, among[size])


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("place", [0, 4])
def test_every_token_is_as_likely_at_every_place(replacement, place):
    """First and last of 5 from 20: a sample's prefix is a sample only if its order is random too."""
    seen = [rows(population=20, sizes=[5], replacement=replacement, replicate=number)[place] for number in range(4000)]
    assert chisquare(np.bincount(seen, minlength=20)).pvalue > 0.001


def test_one_long_draw_is_uniform():
    assert chisquare(np.bincount(rows(population=50, sizes=[50000]), minlength=50)).pvalue > 0.001
