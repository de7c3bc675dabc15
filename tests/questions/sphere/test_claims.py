"""The claim on constants: planted growth of C'(R) to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.sphere.claims import constants
from attnlimit.questions.sphere.figures import constants as figure_of
from attnlimit.questions.sphere.fit import exact_constants
from attnlimit.stats.verdicts import FAILS, HOLDS, rounded
from support.claims import constants_fit, judged


@pytest.mark.parametrize(
    ("growth", "verdict"),
    [
        (exact_constants, HOLDS),
        (lambda d, r: (r, r**2), HOLDS),
        (lambda d, r: (1 + r**4, 1 + r**9), HOLDS),  # any polynomial: its power ends
        (lambda d, r: (np.exp(0.5 * r), r**2), FAILS),
        (lambda d, r: (r, r**2 * np.exp(0.01 * r)), FAILS),
        (lambda d, r: (r, r ** (2 + np.log1p(r))), FAILS),  # slower than an exponential, faster than any polynomial
    ],
)
def test_constants(growth, verdict):
    record = judged(constants, constants_fit(growth))
    assert record.verdict == verdict, record.in_short
    assert record.p == 0
    rounded(record.measured)  # what is written is finite


def test_the_slowest_exponential_that_fails_is_told():
    record = judged(constants, constants_fit())
    rate = float(record.could_fail.split("c = ")[1].split()[0])
    for factor, verdict in ((1.2, FAILS), (0.8, HOLDS)):
        found = constants_fit(lambda d, r, c=factor * rate: (r * np.exp(c * r), r**2), dimensions=(1,))
        assert judged(constants, found).verdict == verdict


def test_the_figure_shows_every_law():
    laws = constants_fit(dimensions=(1, 2, 3, 5, 10, 50)).assign_attrs(n=100)
    shown = figure_of(laws).axes[0].get_legend_handles_labels()[1]
    assert set(laws["law"].values) <= set(shown)
