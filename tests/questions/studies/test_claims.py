"""Claims on several studies, each on truths that hold, fail, and decide nothing."""

import numpy as np
import pytest

from attnlimit.base.coordinates import heads_only
from attnlimit.page.assess import assess, claims_of, write_json
from attnlimit.questions.studies import claims
from attnlimit.questions.studies.fit import compare
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import THRESHOLDS, judged
from support.studies import studies

CALM = {"heads": 0.04, "of_layers": 0.01, "noise": 0.005}  # heads differ, texts do not


def compared(*models, factor=2.0):
    return compare({name: study for model in models for name, study in model.items()}, 0.1, factor)


def verdict(judge, *models, **changes):
    finding = judged(judge, compared(*models, **changes))
    assert "nan" not in finding.in_short
    return finding.verdict


@pytest.mark.parametrize(
    ("effects", "wanted"),
    [
        (CALM, HOLDS),
        (CALM | {"heads": 0, "of_layers": 0, "moved": 0.04, "layers": 12}, FAILS),  # every text has its own order
        (CALM | {"noise": 0.06}, UNDECIDED),  # noise hides it
        (CALM | {"texts": 1}, UNDECIDED),
        (CALM | {"layers": 4}, UNDECIDED),
    ],
)
def test_one_order_of_rates(effects, wanted):
    assert verdict(claims.studies_rates_order, studies(**effects)) == wanted


@pytest.mark.parametrize(
    ("effects", "wanted"),
    [
        (CALM, HOLDS),
        (CALM | {"shifts": 0.05}, FAILS),  # 0.1 from the first text to the last
        (CALM | {"shifts": 0.025}, UNDECIDED),  # on the edge
        (CALM | {"texts": 1}, UNDECIDED),
    ],
)
def test_one_mean_of_rates(effects, wanted):
    assert verdict(claims.studies_rates_level, studies(**effects)) == wanted


def with_horizons(made, change):
    rng = np.random.default_rng(0)
    return {
        name: study.assign(horizon=horizon.copy(data=change(number, horizon.values, rng)))
        for number, (name, study) in enumerate(made.items())
        for horizon in [heads_only(study["horizon"])]
    }


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda number, h, rng: h, HOLDS),
        (lambda number, h, rng: h * 1.5**number, FAILS),  # another size
        (lambda number, h, rng: rng.permuted(h, axis=1), FAILS),  # another order
        (lambda number, h, rng: h * np.exp(0.2 * number), UNDECIDED),  # on the edge
    ],
)
def test_horizons(change, wanted):
    assert verdict(claims.studies_horizons, with_horizons(studies(texts=2, layers=12, **CALM), change)) == wanted


@pytest.mark.parametrize(
    ("effects", "wanted"),
    [
        (CALM, HOLDS),
        (CALM | {"heads": 0.005, "of_layers": 0.0, "moved": 0.04, "layers": 12}, FAILS),
        (CALM | {"heads": 0.02, "of_layers": 0.0, "moved": 0.02}, UNDECIDED),
    ],
)
def test_heads_or_texts(effects, wanted):
    assert verdict(claims.studies_variance, studies(**effects)) == wanted


def several(slopes, texts=1, layers=12, **effects):
    effects = {"heads": 0.01, "of_layers": 0.0, "noise": 0.005} | effects
    return [
        studies(
            texts=texts, layers=layers, name=f"m{number}", digest=f"{number}" * 64, slope=slope, seed=number, **effects
        )
        for number, slope in enumerate(slopes)
    ]


@pytest.mark.parametrize(
    ("slopes", "changes", "wanted"),
    [
        ([-0.03, -0.04, -0.03, -0.035, -0.03], {}, HOLDS),
        ([0, 0, 0, 0, 0, 0], {}, FAILS),
        ([0.03] * 5, {}, FAILS),
        ([-0.03, 0.03, 0.0], {}, UNDECIDED),
        ([-0.04], {}, UNDECIDED),  # one model
        ([-0.04] * 5, {"layers": 4}, UNDECIDED),
    ],
)
def test_horizon_over_models(slopes, changes, wanted):
    assert verdict(claims.studies_horizon_order, *several(slopes, **changes)) == wanted


@pytest.mark.parametrize(
    ("slopes", "wanted"),
    [([-0.03] * 5, HOLDS), ([0] * 6, FAILS), ([-0.03, 0.03, 0.0], UNDECIDED), ([-0.04], UNDECIDED)],
)
def test_horizon_or_tilt_over_models(slopes, wanted):
    assert verdict(claims.studies_tilt_order, *several(slopes)) == wanted


@pytest.mark.parametrize(
    ("slopes", "wanted"), [([-0.03] * 3, HOLDS), ([0.03] * 3, HOLDS), ([-0.03, 0.03], FAILS), ([-0.03, 0], UNDECIDED)]
)
def test_same_sign(slopes, wanted):
    assert verdict(claims.studies_same_sign, *several(slopes)) == wanted


@pytest.mark.parametrize(("factor", "wanted"), [(2.0, HOLDS), (1.1, FAILS)])
def test_sub_gaussian_tokens(factor, wanted):
    assert verdict(claims.studies_sub_gaussian, studies(**CALM), factor=factor) == wanted


def test_heads_of_one_layer_with_heavy_tails_leave_it_open():
    made = studies(**CALM)
    made = {
        name: study.assign(sub_gaussian=study["sub_gaussian"] + 2 * (study["layer"] == 3))
        for name, study in made.items()
    }
    assert verdict(claims.studies_sub_gaussian, made) == UNDECIDED


def with_errors(made, rho, replicates, seed=0):
    rng = np.random.default_rng(seed)
    changed = {}
    for name, study in made.items():
        shape = (*study["error"].shape[:3], replicates, study.sizes["n"], 8)
        common = rng.standard_normal((*shape[:2], 1, *shape[3:]))
        squares = ((np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal(shape)) ** 2).sum(-1)
        dims = study["error"].dims
        changed[name] = study.drop_dims("replicate").assign(
            error=(dims, np.sqrt(squares)), layer_error=((*dims[:2], *dims[3:]), np.sqrt(squares.sum(2)))
        )
        changed[name].attrs = study.attrs
    return changed


@pytest.mark.parametrize(("rho", "replicates", "wanted"), [(0.7, 24, HOLDS), (0, 300, FAILS), (0, 24, UNDECIDED)])
def test_heads_that_share_their_errors(rho, replicates, wanted):
    assert verdict(claims.studies_shared_noise, with_errors(studies(texts=1, **CALM), rho, replicates)) == wanted


def test_every_claim_of_a_comparison_has_a_record_with_finite_numbers(tmp_path):
    stores = {"studies": compared(studies(**CALM), *several([0.0], texts=2))}
    records = assess(claims_of(["studies"]), stores, THRESHOLDS)
    assert all(record.verdict and record.could_fail for record in records)
    write_json(records, tmp_path / "claims.json")
