"""The sizes that the power of theory verdicts is simulated at are those of the default run; what is refused."""

import pytest

from attnlimit.page.power import main
from attnlimit.questions.hardmax import power as hardmax
from attnlimit.questions.normality import power as normality
from attnlimit.questions.sphere import power as sphere
from attnlimit.questions.uniform import power as uniform
from support.configs import DEFAULT


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


def test_a_misspelt_claim_and_no_draws_are_refused():
    with pytest.raises(ValueError, match="CLAIMS: no claim 'head_above'; did you mean 'heads_above'"):
        main(100, "head_above")
    with pytest.raises(ValueError, match="DRAWS: 0 is too small"):
        main(0)
