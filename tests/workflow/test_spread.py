"""Some of the layers studied, from the first to the last."""

import pytest

from attnlimit.workflow.spread import chosen_layers


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
