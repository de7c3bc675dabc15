"""Claims whose fits a run does not have are named without a verdict, and the others are judged."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml

from attnlimit.claims.assess import TESTS, assess, write_json
from attnlimit.claims.page import write_page
from attnlimit.claims.statements import STATEMENTS
from attnlimit.claims.verdicts import VERDICTS
from attnlimit.coordinates import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.plan.chapters import CHAPTERS, JUDGED, chapters_of_claims, left_out
from attnlimit.theory.bounds import predictions

THRESHOLDS = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text())["assess_claims"]
OF_THE_MODEL = ["bound_theorem", "bound_curve", "bert_falls", "bert_above"]


@pytest.fixture
def model() -> xr.Dataset:
    """Fits of ten heads of one layer on the paper's curve."""
    horizon, dims = np.append(np.geomspace(0.1, 3, 10), np.nan), ("layer", "statistic", "part", "head")
    shape = (1, len(STATISTICS), len(PARTS), len(horizon))
    labels = {"layer": [0], "statistic": range(len(STATISTICS)), "part": range(len(PARTS)), "n": [64, 512, 4096]}
    data = xr.Dataset(coords=labels | {"head": [*range(10), WHOLE_LAYER]})
    beta = np.broadcast_to(predictions(horizon, horizon**2)["bound_v3"], shape)
    data["beta"], data["beta_low"], data["beta_high"] = ((dims, beta + shift) for shift in (0, -0.01, 0.01))
    for name in ("local_slope", "local_slope_low", "local_slope_high"):
        data[name] = ((*dims, "interval"), np.zeros((*shape, 2)))
    data["misfit"] = data["saturated"] = (dims, np.zeros(shape, bool))
    couplings = {"horizon": horizon, "psi": horizon**2, "horizon_published": horizon}
    for name, values in (couplings | predictions(horizon, horizon**2)).items():
        data[name] = (("layer", "head"), values[None])
    return data.assign_attrs(source="bert", replicates=8, population=5000, model={"name": "owner/small"})


def test_every_claim_has_its_words_and_its_test():
    assert [claim for test in TESTS for claim in test.claims] == list(STATEMENTS)
    assert {source for test in TESTS for source in test.sources} == set(JUDGED)


def test_heads_alone_are_judged_and_the_rest_is_named(model, tmp_path):
    records = assess({"bert": model}, THRESHOLDS, chapters_of_claims(["heads"]))
    assert [record.id for record in records] == list(STATEMENTS)
    assert [record.id for record in records if not record.left_out] == OF_THE_MODEL
    for record in records:
        assert (record.verdict in VERDICTS) == (record.id in OF_THE_MODEL)
        assert record.left_out == ("" if record.verdict else "theory")
    bound = next(record for record in records if record.id == "bound_curve")
    assert "sphere (chapter theory)" in bound.why and list(bound.measured["by_source"]) == ["bert"]

    write_json(records, tmp_path / "claims.json")
    written = json.loads((tmp_path / "claims.json").read_text())
    assert len({tuple(record) for record in written}) == 1  # the same keys in each
    assert {record["left_out"] for record in written if record["verdict"] is None} == {"theory"}
    write_page(records, tmp_path / "claims.html", left_out(["heads"]))
    page = (tmp_path / "claims.html").read_text()
    assert (
        "4 claims. holds: " in page and "Left out of this run" in page and page.count("<td>chapter theory</td>") == 13
    )


def test_without_any_fit_every_claim_is_left_out():
    records = assess({}, THRESHOLDS, chapters_of_claims(["tails"]))
    assert {record.verdict for record in records} == {None}
    chapters = {record.id: record.left_out for record in records}
    assert chapters["bound_curve"] == "heads or theory" and chapters["bert_falls"] == "heads"
    assert set(chapters.values()) - {"heads or theory"} <= set(CHAPTERS)
    assert all("{" not in record.claim for record in records)


def test_a_fit_that_should_be_there_is_missed_by_name(model):
    with pytest.raises(LookupError, match="results/rates/constants.zarr.zip: a claim needs it"):
        assess({"bert": model}, THRESHOLDS)
