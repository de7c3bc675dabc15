"""All claims together: assessed, written the same twice, with evidence that the workflow makes."""

import json
from copy import deepcopy

import numpy as np
import pytest
import xarray as xr

from attnlimit.claims.assess import assess, write_json
from attnlimit.claims.page import write_page
from attnlimit.claims.verdicts import (
    FAILS,
    HOLDS,
    VERDICTS,
)
from attnlimit.plan.config import check
from support.claims import (
    HORIZONS,
    THRESHOLDS,
    constants_fit,
    curve,
    hardmax_fit,
    heuristic,
    model_rates,
    normality_fit,
    proposed,
    rates,
    uniform,
)
from support.configs import DEFAULT, ROOT, SCHEMA


@pytest.fixture(scope="module")
def stores() -> dict[str, xr.Dataset]:
    """All that assess reads, the model among it with whole layers, on which nothing may depend."""
    doubled, halves = np.repeat(HORIZONS, 2), np.tile([True, False], len(HORIZONS))
    labels = {"dimension": np.ones(20, int), "isotropic": halves}
    everything = {
        "gaussian": rates(heuristic, horizon=doubled, labels=labels),
        "gaussian_published": rates(heuristic, horizon=doubled, labels={"exact": halves}, reference_tokens=400),
        "gaussian_asymptotic": rates(heuristic),
        "sphere": rates(heuristic),
        "uniform": uniform(np.exp),
        "constants": constants_fit(),
        "hardmax": hardmax_fit(proposed),
        "normality": normality_fit(),
    }
    return everything | {"bert": model_rates(heuristic, population=50000, model={"name": "small"})}


def test_all_claims_are_assessed_and_written_the_same_twice(stores, tmp_path):
    records = assess(stores, THRESHOLDS)
    for name in ("first", "second"):
        again = assess(stores, THRESHOLDS)
        write_json(again, tmp_path / f"{name}.json")
        write_page(again, tmp_path / f"{name}.html")
    for kind in ("json", "html"):
        assert (tmp_path / f"first.{kind}").read_bytes() == (tmp_path / f"second.{kind}").read_bytes()
    written = json.loads((tmp_path / "first.json").read_text(), parse_constant=pytest.fail)
    assert [claim["id"] for claim in written] == [record.id for record in records]
    assert len({record.id for record in records}) == len(records) == 17
    assert {claim["verdict"] for claim in written} <= set(VERDICTS)
    assert all(claim["verdict"] == HOLDS for claim in written), [c["id"] for c in written if c["verdict"] != HOLDS]
    known = (THRESHOLDS | DEFAULT["fit_hardmax"]).items()
    assert all(claim["threshold"].items() <= known and claim["threshold"] for claim in written)
    page = (tmp_path / "first.html").read_text()
    assert "17 claims. holds: 17; does not hold: 0" in page and "C&#x27;(R)" in page


def test_evidence_is_what_the_workflow_makes(stores):
    """Paths are outputs of rules, figures are drawn ones."""
    rules = "\n".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))
    for record in assess(stores, THRESHOLDS):
        for item in record.evidence:
            made = f'figure("{item.removeprefix("figure ")}"' if item.startswith("figure ") else f'"{item}"'
            assert made in rules, item


def test_bad_results_of_the_model_change_its_verdicts_alone(stores):
    bad = stores | {"bert": stores["bert"].copy(deep=True)}
    for name in ("beta", "beta_low", "beta_high"):
        bad["bert"][name] = bad["bert"][name] * 0 + 0.3 - 0.9 * curve(bad["bert"]["horizon"]) / 2
    bad["bert"]["beta_low"] -= 0.01
    bad["bert"]["beta_high"] += 0.01
    verdicts = {record.id: record.verdict for record in assess(bad, THRESHOLDS)}
    failed = {name for name, verdict in verdicts.items() if verdict == FAILS}
    assert failed == {"bert_falls", "bert_above", "bound_curve", "bound_theorem"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("level", 1), ("fewest_fits", 3), ("weakest_correlation", 0), ("slope_tolerance", -0.05), ("extra", 1)],
)
def test_a_wrong_threshold_is_refused(key, value):
    config = deepcopy(DEFAULT)
    config["assess_claims"][key] = value
    with pytest.raises(ValueError, match="^config: assess_claims"):
        check(config, SCHEMA)
