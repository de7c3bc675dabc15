"""Heads with one thing changed: truths that hold, fail, and decide nothing."""

import numpy as np
import pytest

from attnlimit.questions.interventions.claims import interventions_centred, interventions_horizon
from attnlimit.questions.interventions.fit import strongest
from attnlimit.questions.interventions.power import POWER
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, chance, rounded
from support.claims import THRESHOLDS, judged

CLAIMS = {claim.id: claim for claim in (interventions_horizon, interventions_centred)}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize(("truth", "verdict"), [(True, HOLDS), (False, FAILS)])
def test_planted_changes_at_the_sizes_of_the_run(name, truth, verdict):
    _, fits = POWER[name]
    finding = judged(CLAIMS[name], fits(truth, np.random.default_rng(1))["interventions"])
    assert finding.verdict == verdict, finding.in_short
    assert finding.p < 0.001
    counts = finding.measured["mean"]
    assert counts["fallen"] + counts["risen"] + counts["open"] == 72
    assert (counts["fallen"] > 10) == truth


def test_the_other_way_round_fails():
    _, fits = POWER["interventions_horizon"]
    data = fits(True, np.random.default_rng(1))["interventions"]
    ends = {"_low": "_high", "_high": "_low", "": ""}
    turned = {f"{name}{end}": -data[f"{name}{other}"] for name in CHANGED for end, other in ends.items()}
    finding = judged(interventions_horizon, data.assign(turned))
    assert finding.verdict == FAILS and finding.measured["mean"]["risen"] > 10


CHANGED = ("beta_change", "mean_beta_change", "mean_beta_change_layers")


@pytest.mark.parametrize("wide", [0.5, 5.0])
def test_a_wide_interval_decides_nothing(wide):
    _, fits = POWER["interventions_horizon"]
    data = fits(True, np.random.default_rng(1))["interventions"]
    value = data["mean_beta_change"]
    changed = data.assign(mean_beta_change_low=value - wide, mean_beta_change_high=value + wide)
    finding = judged(interventions_horizon, changed)
    assert finding.verdict == UNDECIDED and finding.p == 1


def test_a_fall_that_is_surely_less_than_counts_fails():
    _, fits = POWER["interventions_horizon"]
    data = fits(True, np.random.default_rng(1))["interventions"]
    small = {"mean_beta_change": -0.006, "mean_beta_change_low": -0.01, "mean_beta_change_high": -0.002}
    changed = data.assign({name: 0 * data[name] + number for name, number in small.items()})
    assert judged(interventions_horizon, changed).verdict == FAILS


def test_a_mean_that_falls_decides_nothing_if_many_heads_surely_rise():
    _, fits = POWER["interventions_horizon"]
    data = fits(True, np.random.default_rng(1))["interventions"]
    rising = data["beta_change"].where(data["head"] % 2 == 0, -data["beta_change"])
    finding = judged(interventions_horizon, data.assign(beta_change=rising))
    assert finding.verdict == UNDECIDED and finding.measured["mean"]["risen"] > 5


def test_a_part_that_holds_lends_no_certainty_to_one_that_fails():
    """The mean surely falls, the covariance hardly fails: chance is that of the covariance, for two parts."""
    _, fits = POWER["interventions_horizon"]
    data = fits(True, np.random.default_rng(1))["interventions"]
    cov = data["statistic"] == "cov"
    ends = {"mean_beta_change": 0.001, "mean_beta_change_low": -0.019, "mean_beta_change_high": 0.021}
    finding = judged(
        interventions_horizon, data.assign({name: data[name].where(~cov, to) for name, to in ends.items()})
    )
    assert finding.verdict == FAILS
    assert finding.p == pytest.approx(2 * chance(0.001, -0.019, 0.021, most=-THRESHOLDS["rate_change"], freedom=23))


def test_saturated_heads_alone_decide_nothing():
    _, fits = POWER["interventions_horizon"]
    data = fits(True, np.random.default_rng(1))["interventions"]
    none = {f"mean_beta_change{end}": np.nan * data["mean_beta_change"] for end in ("", "_low", "_high")}
    finding = judged(interventions_horizon, data.assign(none | {"slope_known": data["slope_known"] & False}))
    assert finding.verdict == UNDECIDED and finding.could_fail.startswith("not here") and finding.p == 1
    assert "nan" not in finding.in_short + finding.why and rounded(finding.measured)


def test_the_variant_that_counts_is_the_strongest_wherever_it_stands():
    _, fits = POWER["interventions_horizon"]
    data = fits(True, np.random.default_rng(1))["interventions"]
    assert strongest(data)["variant"] == strongest(data.isel(variant=[0, 2, 1, 3, 4]))["variant"] == "H x 4"
