"""Power of the verdicts of the theory chapter: what they say if a claim holds, and if its alternative does."""

import numpy as np
import pytest

from attnlimit.questions.hardmax import claims as hardmax_claims
from attnlimit.questions.hardmax import power as hardmax
from attnlimit.questions.normality import claims as normality_claims
from attnlimit.questions.normality import power as normality
from attnlimit.questions.sphere import claims as sphere_claims
from attnlimit.questions.sphere import power as sphere
from attnlimit.questions.uniform import claims as uniform_claims
from attnlimit.questions.uniform import power as uniform
from attnlimit.stats.claim import Fits
from attnlimit.stats.verdicts import FAILS, HOLDS
from support.claims import THRESHOLDS
from support.configs import DEFAULT

TIMES = 20
CASES = [
    (claims, power, name)
    for claims, power in (
        (hardmax_claims, hardmax),
        (sphere_claims, sphere),
        (normality_claims, normality),
        (uniform_claims, uniform),
    )
    for name in power.POWER
]


@pytest.mark.parametrize(("claims", "power", "name"), CASES, ids=[name for *_, name in CASES])
def test_a_claim_that_holds_is_told_from_its_alternative(claims, power, name):
    """At least 19 of 20 times each."""
    _, fits = power.POWER[name]
    for truth, verdict in ((True, HOLDS), (False, FAILS)):
        streams = np.random.default_rng([17, truth]).spawn(TIMES)
        found = [getattr(claims, name)(Fits(fits(truth, stream)), THRESHOLDS) for stream in streams]
        assert sum(each.verdict == verdict for each in found) >= TIMES - 1, (truth, [each.in_short for each in found])
        assert all(each.p is not None and each.p < 0.05 for each in found if each.verdict == verdict)


def test_sizes_are_those_of_the_default_run():
    section = DEFAULT["simulate_hardmax"]
    assert {key: hardmax.OPTIONS[key] for key in ("sigma", "sizes", "line_replicates")}.items() <= section.items()
    assert DEFAULT["fit_hardmax"]["log10_largest"] == hardmax.LARGEST
    assert DEFAULT["fit_constants"] == {"dimensions": sphere.DIMENSIONS, "span": sphere.SPAN}
    section = DEFAULT["simulate_constants"]
    assert [section[key] for key in ("dimension", "radii", "size", "replicates")] == [
        sphere.DIMENSIONS[1],
        sphere.RADII,
        sphere.SIZE,
        sphere.REPLICATES,
    ]
    section = DEFAULT["simulate_normality"]
    assert section["sizes"] == normality.SIZES and section["tilts"] == normality.TILTS.tolist()
    assert section["replicates"] == normality.REPLICATES
    section = DEFAULT["simulate_uniform"]
    assert section["sizes"] == uniform.SIZES.tolist() and section["radii"] == uniform.RADII.tolist()
    assert section["compact_radii"] == uniform.COMPACT_RADII.tolist()
    assert section["replicates"] == uniform.REPLICATES and section["largest_in_plane"] == uniform.LARGEST_IN_PLANE
    assert DEFAULT["fit_uniform"] == {"slope_tolerance": uniform.TOLERANCE, "carriers": uniform.CARRIERS}
    assert (DEFAULT["fit_rates"]["bootstrap"], DEFAULT["fit_rates"]["misfit"]) == (uniform.BOOTSTRAP, uniform.MISFIT)
