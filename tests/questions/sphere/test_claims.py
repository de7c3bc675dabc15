"""The claim on constants: planted growth of C'(R), through its models, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.sphere.claims import constants
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, rounded
from support.claims import constants_fit, judged

WIDE = np.geomspace(0.4, 6, 10)


@pytest.mark.parametrize(
    ("constant", "changes", "verdict"),
    [
        (lambda r: r, {}, HOLDS),
        (lambda r: r**3, {}, HOLDS),
        (lambda r: r + r**4, {}, HOLDS),
        (lambda r: np.exp(1.5 * r), {"radius": WIDE}, FAILS),
        (lambda r: r * np.exp(1.5 * r), {"radius": WIDE}, FAILS),
        (lambda r: r * np.exp(0.5 * r), {}, UNDECIDED),  # over so few radii a polynomial looks the same
        (lambda r: r**2, {"noise": 1.0}, UNDECIDED),
        (lambda r: r * (1.5 + np.sin(9 * r)), {}, UNDECIDED),  # nothing fits
        (lambda r: r, {"radius": np.array([1, 2, 4.0])}, UNDECIDED),
        (lambda r: r, {"radius": np.linspace(1, 2.9, 8)}, UNDECIDED),
        (lambda r: r, {"slope": 0.3}, UNDECIDED),  # no constant where the error does not fall like 1/sqrt(n)
        (lambda r: np.exp(1.5 * r), {"radius": WIDE, "slope": 0.3}, UNDECIDED),
    ],
)
def test_constants(constant, changes, verdict):
    record = judged(constants, constants_fit(constant, **changes))
    assert record.verdict == verdict, record.in_short
    rounded(record.measured)  # what is written is finite


@pytest.mark.parametrize("seed", range(20))
def test_r_times_an_exponential_never_passes_as_polynomial_alone(seed):
    for rate in (0.5, 0.8, 1.5):
        fit = constants_fit(lambda r, rate=rate: r * np.exp(rate * r), seed=seed)
        assert judged(constants, fit).verdict != HOLDS


def test_one_statistic_against_it_fails_the_claim():
    good, bad = constants_fit(lambda r: r, radius=WIDE), constants_fit(lambda r: np.exp(1.5 * r), radius=WIDE)
    both = good.copy(deep=True)
    for name in both:
        both[name][1] = bad[name][1]
    assert judged(constants, both).verdict == FAILS
    assert judged(constants, good).verdict == HOLDS
