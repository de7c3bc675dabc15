"""A claim and its record: what is computed from the declaration."""

from dataclasses import replace

import pytest
import xarray as xr

from attnlimit.stats.claim import (
    AFTER_A_LOOK,
    COULD_HARDLY_FAIL,
    EXPLORATORY,
    TOO_FEW,
    TOO_WIDE,
    Finding,
    Fits,
    claim,
    error_fits,
)
from attnlimit.stats.verdicts import HOLDS, UNDECIDED
from support.claims import heuristic, model_rates

STORE = xr.Dataset(attrs={"model": {"name": "owner/small"}})
THRESHOLDS = {"level": 0.95, "other": 7}


@claim(
    id="one",
    headline="They fall",
    experiment="heads of {model}",
    statement="Heads of {model} fall.",
    test="By eye.",
    fits=("heads", "sphere"),
    figure=("of_heads", "of_sphere"),
    thresholds=("level",),
    any_of=True,
)
def judge(fits: Fits, thresholds: dict) -> Finding:
    return Finding(HOLDS, "short", {"seen": thresholds}, "why", "yes: a rise", {"from_n": 3})


def test_a_record_is_computed_from_the_declaration():
    record = judge.record(Fits({"heads": STORE, "sphere": STORE}), THRESHOLDS, {}, {"heads": "fit_rates"})
    assert (record.claim, record.rule) == ("Heads of small fall.", "fit_rates, fit_sphere")
    assert record.files == ["rates/heads.zarr.zip", "rates/sphere.zarr.zip"]
    assert record.figures == ["of_heads", "of_sphere"]
    assert record.threshold == {"level": 0.95, "from_n": 3} and record.measured == {"seen": {"level": 0.95}}
    assert (record.headline, record.experiment, record.ours) == ("They fall", "heads of small", False)
    assert (record.number, record.able, record.marks) == ("short", "yes", [])
    assert record.function.endswith(": judge") and record.test_file.startswith("tests/")


@pytest.mark.parametrize(("could_fail", "reason"), [("yes: a rise", TOO_WIDE), ("not here: one fit", TOO_FEW)])
def test_an_undecided_verdict_says_why_in_three_words(could_fail, reason):
    undecided = replace(judge, judge=lambda fits, thresholds: Finding(UNDECIDED, "short", {}, "why", could_fail))
    assert undecided.record(Fits({"heads": STORE, "sphere": STORE}), THRESHOLDS, {}, {}).marks == [reason]


def test_what_a_reader_must_know_of_a_verdict_stands_beside_it():
    looked = replace(
        judge, after_a_look=True, judge=lambda fits, thresholds: Finding(HOLDS, "", {}, "why", "hardly: x")
    )
    record = looked.record(Fits({"heads": STORE, "sphere": STORE}), THRESHOLDS, {}, {})
    assert record.marks == [COULD_HARDLY_FAIL, EXPLORATORY] and record.why == f"why {AFTER_A_LOOK}"


def test_fits_that_a_run_leaves_out_are_named_and_the_others_judged():
    record = judge.record(Fits({"heads": STORE}), THRESHOLDS, {"sphere": "theory"}, {})
    assert (record.verdict, record.left_out, record.figures) == (HOLDS, "", ["of_heads"])
    assert "sphere (chapter theory)" in record.why
    left = judge.record(Fits({}), THRESHOLDS, {"heads": "heads", "sphere": "theory"}, {})
    assert (left.verdict, left.left_out) == (None, "heads or theory") and "{" not in left.claim


def test_a_fit_that_nothing_makes_is_refused():
    with pytest.raises(LookupError, match="rates/sphere"):
        judge.record(Fits({"heads": STORE}), THRESHOLDS, {}, {})


def test_only_errors_of_heads_are_asked():
    """No whole layers, no bias or fluctuation, no spectral norm."""
    table = error_fits(model_rates(heuristic))
    assert len(table) == 2 * 10
    assert set(table["statistic"]) == {"mean", "cov"} and set(table["part"]) == {"error"}
    assert "all" not in set(table["head"])
