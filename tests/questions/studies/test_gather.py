"""What is gathered of a run, and what the comparison tells of it head by head."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import STATISTICS, heads_only, with_whole_layer
from attnlimit.questions.studies.fit import compare
from attnlimit.questions.studies.gather import gather
from attnlimit.questions.studies.report import heads_table, studies_answer
from attnlimit.questions.tails.measure import tails_of_tokens
from attnlimit.sampling.errors import distances
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap

SIZES = np.array([64, 128, 256, 512, 1024])
HEADS, REPLICATES = 3, 24


def test_a_layers_squared_mean_error_is_the_sum_over_its_heads_and_its_covariance_has_more():
    rng = np.random.default_rng(2)
    mean, half = rng.standard_normal(12), rng.standard_normal((12, 12))
    found = distances(mean, half + half.T, heads=3)
    assert found["mean"][-1] ** 2 == pytest.approx((found["mean"][:-1] ** 2).sum())
    assert found["cov"][-1] ** 2 > (found["cov"][:-1] ** 2).sum()


def run_of(rng, layers):
    """What gather reads: rates of all layers, tails and errors one a layer."""
    fits, tails, errors = [], [], []
    for layer in layers:
        drawn = SIZES**-0.5 * np.exp(0.1 * rng.standard_normal((HEADS + 1, REPLICATES, len(SIZES))))
        labels = {name: ("head", [*np.ones(HEADS), np.nan]) for name in ("horizon", "psi", "constant_tilt")}
        data = xr.Dataset(
            {
                "error": (("statistic", "head", "replicate", "n"), np.stack([drawn] * len(STATISTICS))),
                "limit_scale": (("statistic", "head"), np.full((len(STATISTICS), HEADS + 1), 2.0)),
                **labels,
            },
            coords={"statistic": list(STATISTICS), "head": with_whole_layer(HEADS), "n": SIZES, "layer": layer},
        )
        fits.append(fit_errors(data, [Bootstrap(20, True, rng)] * len(STATISTICS), misfit=3, saturated=0.5))
        tokens = rng.standard_normal((500, 4))
        law = tokens.mean(0), np.cov(tokens.T, bias=True)
        tilts = rng.standard_normal((HEADS, 4, 4))
        tails.append(tails_of_tokens([tokens], *law, tilts, 2, [0.5, 1], 50).assign_coords(layer=layer))
        errors.append(data)
    return xr.concat(fits, "layer"), tails, errors


def test_a_run_is_gathered_by_layer_and_head_and_compared():
    rates, tails, errors = run_of(np.random.default_rng(3), [0, 2])
    study = gather(rates, tails[::-1], errors[::-1])
    assert study["layer"].values.tolist() == [0, 2] and study["head"].values.tolist() == [0, 1, 2]
    assert study["sub_gaussian"].sel(layer=2).equals(heads_only(tails[1]["sub_gaussian"]))
    at_last = study["error"].isel(n=-1).mean("replicate") / study["limit_scale"]
    assert np.allclose(at_last, study["relative_error"].transpose(*at_last.dims))
    study = study.assign_attrs(model={"name": "a", "sha256": {"w": "a"}}, corpus={"name": "text"})
    compared = compare({"one": study}, 2.0, 0.25, np.random.default_rng(0))
    table = heads_table(compared)
    assert len(table) == 2 * HEADS and set(table["model"]) == {"a"} and set(table["text"]) == {"text"}
    assert table["relative_error_mean"].between(0.01, 0.02).all() and table["tokens_5_cov"].between(90, 110).all()


def test_interventions_are_counted_where_a_run_has_them():
    rates, tails, errors = run_of(np.random.default_rng(3), [0, 2])
    coords = {"layer": [0, 2], "variant": ["as it is", "H × 4"], "statistic": list(STATISTICS), "head": [0, 1, 2, -1]}
    change = xr.DataArray(np.zeros((2, 2, 3, 4)), coords, list(coords))
    change.loc[{"variant": "H × 4"}] = np.array([-0.2, -0.1, 0.2, 9])  # the last is the whole layer
    changes = xr.Dataset({"beta_change": change, "beta_change_low": change - 0.15, "beta_change_high": change + 0.15})
    attrs = {"model": {"name": "a", "sha256": {"w": "a"}}, "corpus": {"name": "text"}}
    studies = {"with": gather(rates, tails, errors, [changes]), "without": gather(rates, tails, errors)}
    studies = {name: study.assign_attrs(attrs) for name, study in studies.items()}
    compared = compare(studies, 2.0, 0.25, np.random.default_rng(0))
    counts = compared["heads_changed"]
    assert counts["variant"].values.tolist() == ["H × 4"]
    found = counts.sel(study="with", variant="H × 4", statistic="mean").values.tolist()
    assert found == [2, 2, 2] and np.isnan(counts.sel(study="without")).all()
    assert "ask it (1): H × 4: 2 fell, 2 rose, 2 open" in studies_answer(compared, 0.5)["interventions"]


def test_layers_that_do_not_belong_together_are_refused():
    rates, tails, errors = run_of(np.random.default_rng(3), [0, 2])
    with pytest.raises(ValueError, match="results/errors: layers"):
        gather(rates.isel(layer=[0]), tails[:1], errors)
