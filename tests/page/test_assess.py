"""All claims together: assessed, written the same twice, with evidence that the workflow makes."""

import json
import re
from copy import deepcopy

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.seeds import generator
from attnlimit.page.assess import assess, claims_of, write_json
from attnlimit.page.power import declared, shares
from attnlimit.questions.downstream.power import fitted
from attnlimit.questions.downstream.power import planted as downstream
from attnlimit.questions.first_order.power import planted as first_order
from attnlimit.questions.gaussian.claims import reference_change
from attnlimit.questions.interventions.power import POWER
from attnlimit.questions.patterns.power import planted as patterns
from attnlimit.questions.patterns.power import planted_scores
from attnlimit.questions.propagation.power import planted as propagation
from attnlimit.stats.claim import Fits, Record
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, VERDICTS
from attnlimit.workflow.config import check
from attnlimit.workflow.registry import (
    all_chapters,
    chapters_of_fits,
    exclusive_chapters,
    figures,
    fits,
    questions_with_claims,
)
from support.claims import (
    HORIZONS,
    THRESHOLDS,
    constants_fit,
    contexts_fit,
    curve,
    hardmax_fit,
    heuristic,
    model_rates,
    normality_fit,
    rates,
    uniform,
)
from support.configs import DEFAULT, ROOT

CLAIMS = claims_of(questions_with_claims(DEFAULT["chapters"]))
OF_STUDIES = claims_of(questions_with_claims(exclusive_chapters()))


@pytest.fixture(scope="module")
def stores() -> dict[str, xr.Dataset]:
    """All that assess reads, the model among it with whole layers, on which nothing may depend."""
    doubled, halves = np.repeat(HORIZONS, 2), np.tile([True, False], len(HORIZONS))
    labels = {"dimension": np.ones(20, int), "isotropic": halves}
    everything = {
        "gaussian": rates(heuristic, horizon=doubled, labels=labels),
        "gaussian_published": published(),
        "gaussian_asymptotic": rates(heuristic),
        "sphere": rates(heuristic),
        "uniform": uniform(np.exp),
        "constants": constants_fit(),
        "hardmax": hardmax_fit(),
        "normality": normality_fit(),
        "contexts": contexts_fit(),
        "first_order": first_order([1.0], np.random.default_rng(3)),
        "patterns": patterns().assign(planted_scores("normal", np.random.default_rng(2))),
        "propagation": propagation(noise=0.05),
        "downstream": fitted(downstream(), np.random.default_rng(1)),
    }
    layers = [model_rates(heuristic, layer, labels={"constant_tilt": tilts(layer)}) for layer in range(6)]
    facts = {"population": 50000, "model": {"name": "owner/small"}}
    both = {name: POWER[name][1](True, generator(1, name))["interventions"] for name in POWER}
    horizon, centred = (both[f"interventions_{name}"] for name in ("horizon", "centred"))
    changed = horizon.where(horizon["tilt_factor"] > 0, centred).assign(horizon[["alpha", "tilt_factor"]])
    return everything | {
        "heads": xr.concat(layers, "layer").assign_attrs(facts),
        "interventions": changed.assign_attrs(facts),
    }


def published() -> xr.Dataset:
    """Rates to the exact limit, and less by what quadrature takes to a reference of 13,333 tokens, about."""
    n, tokens, count = np.array([250, 1000, 4000]), 13333, len(HORIZONS)
    beta = heuristic(HORIZONS)
    taken = np.array([reference_change(one, n, tokens) for one in beta]) * (1 + 0.1 * np.resize([1, -1], count))
    labels = {"exact": np.arange(2 * count) < count, "scale": np.tile(np.arange(count), 2)}
    both = np.concatenate([beta, beta - taken])
    return rates(lambda h: both, np.tile(HORIZONS, 2), labels=labels, n=n, reference_tokens=tokens)


def tilts(layer: int) -> np.ndarray:
    """Constant tilts of no order, small enough for these sizes."""
    return np.random.default_rng(layer).uniform(0, 1, len(HORIZONS))


@pytest.fixture(scope="module")
def records(stores) -> list[Record]:
    return assess(CLAIMS, stores, THRESHOLDS)


def test_all_claims_are_assessed_and_written_the_same_twice(stores, records, tmp_path):
    for name, again in (("first", records), ("second", assess(CLAIMS, stores, THRESHOLDS))):
        write_json(again, tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    written = json.loads((tmp_path / "first").read_text(), parse_constant=pytest.fail)
    assert {claim["verdict"] for claim in written} <= set(VERDICTS)
    assert all(claim["verdict"] == HOLDS for claim in written), [c["id"] for c in written if c["verdict"] != HOLDS]
    known = (THRESHOLDS | DEFAULT["fit_hardmax"]).items()
    assert all(claim["threshold"].items() <= known and claim["threshold"] for claim in written)
    assert all(claim["could_fail"].startswith(("yes: ", "hardly: ")) for claim in written)


def test_a_claim_names_fits_figures_and_thresholds_that_there_are():
    ids = [claim.id for claim in CLAIMS + OF_STUDIES]
    assert len(ids) == len(set(ids))
    for claim in CLAIMS + OF_STUDIES:
        assert set(claim.fits) <= set(fits(all_chapters())) and set(claim.figures) <= set(figures(all_chapters()))
        assert len(claim.figures) in (0, 1, len(claim.fits)) and set(claim.thresholds) <= set(THRESHOLDS)


def test_every_claim_leads_to_its_function_and_its_test():
    for claim in CLAIMS + OF_STUDIES:
        record = claim.record(Fits({}), THRESHOLDS, dict.fromkeys(claim.fits, "chapter"), {})
        module, function = record.function.split(": ")
        assert f"\ndef {function}(" in (ROOT / "scripts/attnlimit" / module).read_text(), record.function
        assert function in (ROOT / record.test_file).read_text(), record.test_file


def test_what_a_run_leaves_out_has_a_record_without_verdict(stores, tmp_path):
    """Of a run with the heads alone: claims on them are judged."""
    of_heads = {name: stores[name] for name in ("heads", "first_order")}
    records = assess(CLAIMS, of_heads, THRESHOLDS, chapters_of_fits(["heads"]))
    assert [record.id for record in records] == [claim.id for claim in CLAIMS]
    judged = {record.id for record in records if record.verdict}
    assert judged == {"heads_curve", "heads_above", "first_order_predicts"}
    assert all(bool(record.left_out) != bool(record.verdict) for record in records)
    write_json(records, tmp_path / "claims.json")


def test_words_for_people_are_typeset(stores, records):
    """β, H², √n, χ², ≥, ± and a real minus; no words of a programming language."""
    left = assess(CLAIMS, {}, THRESHOLDS, dict.fromkeys(stores, "theory"))
    for record in [*records, *left]:
        for words in (record.claim, record.in_short, record.why, record.test, record.could_fail):
            ascii_math = re.findall(r"\bbeta\b|sqrt|\^|\+-|[<>]=|chi2|\bPsi\b|\bsigma\b|[ \[(]-\d", words)
            assert ascii_math == [], (record.id, words)


def test_bad_results_of_the_model_change_its_verdicts_alone(stores):
    bad = stores | {"heads": stores["heads"].copy(deep=True)}
    for name in ("beta", "beta_low", "beta_high"):
        bad["heads"][name] = bad["heads"][name] * 0 + 0.3 - 0.9 * curve(bad["heads"]["horizon"]) / 2
    bad["heads"]["beta_low"] -= 0.01
    bad["heads"]["beta_high"] += 0.01
    verdicts = {record.id: record.verdict for record in assess(CLAIMS, bad, THRESHOLDS)}
    failed = {name for name, verdict in verdicts.items() if verdict == FAILS}
    assert failed == {"heads_curve", "heads_above"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("level", 1), ("fewest_fits", 3), ("weakest_coefficient", 0), ("slope_tolerance", -0.05), ("extra", 1)],
)
def test_a_wrong_threshold_is_refused(key, value):
    config = deepcopy(DEFAULT)
    config["assess_claims"][key] = value
    with pytest.raises(ValueError, match="^config: assess_claims"):
        check(config)


def test_every_alternative_is_one_of_a_claim_and_words_go_into_a_sentence():
    """The page says: … if {alternative}."""
    known = {claim.id for claim in CLAIMS}
    for name, (alternative, make) in declared().items():
        assert name in known and callable(make)
        assert alternative and not alternative.endswith(".")


def test_a_verdict_that_is_not_firm_enough_for_the_family_counts_as_undecided():
    claim = next(claim for claim in CLAIMS if claim.id == "patterns_random_rate")

    def make(half):
        return lambda truth, stream: {"patterns": patterns(half=half)}

    assert shares(claim, make(0.005), True, 2) == {HOLDS: 1, FAILS: 0, UNDECIDED: 0}
    assert shares(claim, make(0.035), True, 2) == {HOLDS: 0, FAILS: 0, UNDECIDED: 1}  # by itself it holds
    assert claim(Fits({"patterns": patterns(half=0.035)}), THRESHOLDS).verdict == HOLDS
