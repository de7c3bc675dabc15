"""Claims on several studies, each on truths that hold, fail, and decide nothing."""

import numpy as np
import pytest

from attnlimit.page.assess import assess, claims_of, write_json
from attnlimit.questions.studies import claims
from attnlimit.questions.studies.fit import compare
from attnlimit.questions.studies.power import FACTOR, POWER, REACH, planted
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import THRESHOLDS, judged


def compared(seed=0, texts=3, layers=6, replicates=24, **effects):
    stream = np.random.default_rng(seed)
    return compare(
        planted(stream, models={"a": (layers, texts)}, replicates=replicates, **effects), FACTOR, REACH, stream
    )


@pytest.mark.parametrize(
    ("claim", "effects", "wanted"),
    [
        ("studies_order", {}, HOLDS),
        ("studies_order", {"heads": 0.0, "moved": 0.5}, FAILS),  # every text has its own order
        ("studies_order", {"heads": 0.02, "moved": 0.02, "replicates": 5}, UNDECIDED),  # on the edge, and noisy
        ("studies_order", {"texts": 1}, UNDECIDED),
        ("studies_horizons", {}, HOLDS),
        ("studies_horizons", {"horizons": 5.0}, FAILS),
        ("studies_horizons", {"texts": 1}, UNDECIDED),
        ("studies_variance", {}, HOLDS),
        ("studies_variance", {"heads": 0.1, "moved": 0.4}, FAILS),
        ("studies_variance", {"heads": 0.02, "shifts": 0.0, "moved": 0.02, "replicates": 5}, UNDECIDED),
        ("studies_variance", {"layers": 1, "texts": 1}, UNDECIDED),
        ("studies_sub_gaussian", {}, HOLDS),
        ("studies_sub_gaussian", {"heavy": 0.2}, FAILS),
        ("studies_shared_noise", {"shared": 0.7}, HOLDS),
        ("studies_shared_noise", {"shared": 0.0}, FAILS),
        ("studies_shared_noise", {"shared": 0.3, "layers": 1}, UNDECIDED),  # worth 6 of 12
    ],
)
def test_a_claim_goes_either_way(claim, effects, wanted):
    finding = judged(getattr(claims, claim), compared(**effects))
    assert finding.verdict == wanted and "nan" not in finding.in_short
    assert finding.p is None or (finding.p < 0.05 if wanted != UNDECIDED else finding.p > 0.05)


def test_layers_like_these_stand_beside_and_decide_nothing():
    """A head order that one layer alone upsets: sure of these heads, not of layers like these."""
    part = judged(claims.studies_order, compared(heads=0.3, moved=0.25)).measured["a, error of the mean"]
    assert part["low"] > part["layers_low"] and part["layers_high"] > part["high"]


def test_a_part_that_holds_lends_no_certainty_to_one_that_fails():
    """One quantity surely agrees, another hardly fails: chance is that of the second, for all parts."""
    data = compared()
    last = data["quantity"] == "tokens_cov"
    edge = THRESHOLDS["agreement"]
    ends = {"agreement": edge - 0.02, "agreement_low": edge - 0.03, "agreement_high": edge - 0.01}
    finding = judged(
        claims.studies_order, data.assign({name: data[name].where(~last, to) for name, to in ends.items()})
    )
    assert finding.verdict == FAILS and "fails it" in finding.could_fail
    assert finding.p == pytest.approx(len(finding.measured) * finding.measured["a, n(5 %) of the covariance"]["p"])


def test_every_claim_of_a_comparison_has_a_record_and_an_alternative(tmp_path):
    declared = claims_of(["studies"])
    records = assess(declared, {"studies": compared()}, THRESHOLDS)
    assert all(record.verdict and record.could_fail and record.p_family is not None for record in records)
    write_json(records, tmp_path / "claims.json")
    assert set(POWER) == {claim.id for claim in declared}
