"""Cuts and shares cover the whole once; some of the layers studied, from the first to the last."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlimit.base.parts import chosen_layers, cuts, share


@given(st.integers(0, 500), st.integers(1, 600))
def test_cuts_cover_exactly(total, block):
    blocks = [range(cut.start, cut.stop) for cut in cuts(total, block)]
    assert [number for part in blocks for number in part] == list(range(total))
    assert all(len(part) == block for part in blocks[:-1])
    assert all(0 < len(part) <= block for part in blocks)


@given(st.integers(0, 60), st.integers(1, 80))
def test_shares_join_to_the_whole_and_are_even(items, parts):
    shares = [share(list(range(items)), part, parts) for part in range(parts)]
    assert sum(shares, []) == list(range(items))
    sizes = [len(part) for part in shares]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("wanted", "layers", "chosen"),
    [
        (3, [0, 1, 2, 3, 4, 5], [0, 2, 5]),
        (2, [4, 0, 2], [0, 4]),
        (1, [3, 5], [3]),
        (3, [5], [5]),
        (9, [2, 0], [0, 2]),
        ([5, 2], [0, 2, 5], [5, 2]),
    ],
)
def test_layers_are_spread_from_the_first_to_the_last(wanted, layers, chosen):
    assert chosen_layers(wanted, layers) == chosen


def test_a_number_of_layers_gives_as_many_different_ones():
    for count in range(1, 13):
        found = chosen_layers(count, list(range(12)))
        assert len(set(found)) == count and found == sorted(found)
