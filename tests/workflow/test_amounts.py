"""Numbers as people say them."""

import pytest

from attnlimit.base.log import counted
from attnlimit.workflow.amounts import about, duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "a few seconds left"),
        (12, "about 10 s left"),
        (94, "about 90 s left"),
        (97, "about 2 min left"),
        (544, "about 9 min left"),
        (7300, "about 2 h left"),
    ],
)
def test_an_estimate_is_told_roundly(seconds, text):
    assert about(seconds) == text


def test_numbers_with_their_nouns():
    assert (counted(1, "job"), counted(0, "job"), counted(1200, "job")) == ("1 job", "0 jobs", "1,200 jobs")
    assert (duration(59.6), duration(125), duration(7300)) == ("60 s", "2 min", "2 h")
