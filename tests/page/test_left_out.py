"""Claims whose fits a run does not have are named without a verdict, and the others are judged."""

import json

import pytest
import xarray as xr

from attnlimit.page.assess import TESTS, assess, write_json
from attnlimit.page.claims_page import write_page
from attnlimit.stats.statements import OF_ONE_RUN, STATEMENTS
from attnlimit.stats.verdicts import VERDICTS
from attnlimit.workflow.registry import all_chapters, chapters_of_fits, fits, left_out
from support.claims import THRESHOLDS, curve, model_rates

OF_THE_MODEL = ["bound_theorem", "bound_curve", "heads_falls", "heads_above", "tilt_order"]
OTHERS = {"ablation_falls": "ablation"}  # not of the theory
OTHERS |= dict.fromkeys(("contexts_share", "patterns_random_rate"), "contexts")
OTHERS |= dict.fromkeys(("propagation_quadrature", "downstream_rate", "downstream_horizon"), "whole_model")


@pytest.fixture
def model() -> xr.Dataset:
    """Fits of ten heads of one layer on the paper's curve."""
    return model_rates(curve, n=(64, 512, 4096), source="heads", population=5000, model={"name": "owner/small"})


def test_every_claim_has_its_words_and_its_test():
    assert [claim for test in TESTS for claim in test.claims] == list(STATEMENTS)
    assert {source for test in TESTS for source in test.sources} == set(fits(all_chapters()))


def test_heads_alone_are_judged_and_the_rest_is_named(model, tmp_path):
    records = assess({"heads": model}, THRESHOLDS, chapters_of_fits(["heads"]))
    assert [record.id for record in records] == OF_ONE_RUN
    assert [record.id for record in records if not record.left_out] == OF_THE_MODEL
    for record in records:
        assert (record.verdict in VERDICTS) == (record.id in OF_THE_MODEL)
        chapter = OTHERS.get(record.id, "theory")
        assert record.left_out == ("" if record.verdict else chapter)
    bound = next(record for record in records if record.id == "bound_curve")
    assert "sphere (chapter theory)" in bound.why and list(bound.measured["by_source"]) == ["heads"]

    write_json(records, tmp_path / "claims.json")
    written = json.loads((tmp_path / "claims.json").read_text())
    assert len({tuple(record) for record in written}) == 1  # the same keys in each
    assert {record["left_out"] for record in written if record["verdict"] is None} == {"theory", *OTHERS.values()}
    write_page(records, tmp_path / "claims.html", left_out(["heads"]))
    page = (tmp_path / "claims.html").read_text()
    assert (
        "5 claims. holds: " in page and "Left out of this run" in page and page.count("<td>chapter theory</td>") == 12
    )


def test_without_any_fit_every_claim_is_left_out():
    records = assess({}, THRESHOLDS, chapters_of_fits(["tails"]))
    assert {record.verdict for record in records} == {None}
    chapters = {record.id: record.left_out for record in records}
    assert chapters["bound_curve"] == "heads or theory" and chapters["heads_falls"] == "heads"
    assert chapters["ablation_falls"] == "ablation"
    assert set(chapters.values()) - {"heads or theory"} <= set(all_chapters())
    assert all("{" not in record.claim for record in records)


def test_a_fit_that_should_be_there_is_missed_by_name(model):
    with pytest.raises(LookupError, match="results/rates/ablation.zarr.zip: a claim needs it"):
        assess({"heads": model}, THRESHOLDS)
