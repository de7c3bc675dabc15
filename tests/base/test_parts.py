"""Cuts and shares cover the whole once."""

from hypothesis import given
from hypothesis import strategies as st

from attnlimit.base.parts import cuts, share


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
