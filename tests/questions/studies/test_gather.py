"""What is gathered of a run: standard errors of rates from replicates left out, halves of the replicates."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import STATISTICS, heads_only, with_whole_layer
from attnlimit.questions.studies.gather import SPLITS, beta_of, gather, jackknife_covariance, split_halves
from attnlimit.questions.tails.measure import tails_of_tokens
from attnlimit.sampling.errors import distances
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap

SIZES = np.array([64, 128, 256, 512, 1024])
HEADS, REPLICATES = 3, 24


def walks(rng, replicates, experiments=1):
    """Norms of means of n increments, nested; head 1 shares half with head 0: (experiment, head, replicate, n)."""
    steps = np.sqrt(np.diff(SIZES, prepend=0))[:, None]
    drawn = rng.standard_normal((experiments, HEADS, replicates, len(SIZES), 8)) * steps
    drawn[:, 1] = np.sqrt(0.5) * (drawn[:, 0] + drawn[:, 1])
    return np.linalg.norm(drawn.cumsum(3), axis=-1) / SIZES


def test_the_covariance_of_rates_is_that_over_experiments():
    """Mean of the jackknife's covariance over 300 experiments, against the covariance of their rates."""
    rng = np.random.default_rng(0)
    errors = walks(rng, REPLICATES, 300)
    rates = np.stack([beta_of(SIZES, each) for each in errors])
    seen, estimated = np.cov(rates.T), np.mean([jackknife_covariance(SIZES, each) for each in errors], 0)
    assert np.diag(estimated) == pytest.approx(np.diag(seen), rel=0.25)
    correlation = estimated[0, 1] / np.sqrt(estimated[0, 0] * estimated[1, 1])
    assert correlation == pytest.approx(np.corrcoef(rates.T)[0, 1], abs=0.12) and correlation > 0.15
    assert abs(estimated[0, 2]) < 0.1 * estimated[0, 0]


def test_the_rate_is_that_of_fit_rates_and_halves_are_halves():
    rng = np.random.default_rng(1)
    (errors,) = walks(rng, REPLICATES)
    data = xr.Dataset(
        {
            "error": (("statistic", "head", "replicate", "n"), np.stack([errors] * len(STATISTICS))),
            "limit_scale": (("statistic", "head"), np.ones((len(STATISTICS), HEADS))),
        },
        coords={"statistic": list(STATISTICS), "head": range(HEADS), "n": SIZES},
    )
    fit = fit_errors(data, [Bootstrap(10, True, rng)] * len(STATISTICS), misfit=3, saturated=0.5)
    assert beta_of(SIZES, errors) == pytest.approx(fit["beta"].sel(statistic="mean", part="error").values)
    order = np.arange(REPLICATES)[::-1]
    halves = split_halves(SIZES, errors, order[None])
    assert halves[0, 0] == pytest.approx(beta_of(SIZES, errors[:, 12:]))
    assert halves[0, 1] == pytest.approx(beta_of(SIZES, errors[:, :12]))


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
        (drawn,) = walks(rng, REPLICATES)
        data = xr.Dataset(
            {
                "error": (
                    ("statistic", "head", "replicate", "n"),
                    np.stack([[*drawn, np.sqrt((drawn**2).sum(0))]] * 3),
                ),
                "limit_scale": (("statistic", "head"), np.ones((len(STATISTICS), HEADS + 1))),
                **{name: ("head", [*np.ones(HEADS), np.nan]) for name in ("horizon", "psi", "constant_tilt")},
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


def test_a_run_is_gathered_by_layer_and_head():
    rates, tails, errors = run_of(np.random.default_rng(3), [0, 2])
    study = gather(rates, tails[::-1], errors[::-1], np.random.default_rng(0))
    assert dict(study["beta_half"].sizes) == {"layer": 2, "statistic": 2, "split": SPLITS, "half": 2, "head": HEADS + 1}
    assert study["layer"].values.tolist() == [0, 2]
    assert study["sub_gaussian"].sel(layer=2).equals(tails[1]["sub_gaussian"])
    se = np.sqrt(np.diagonal(heads_only(study["beta_covariance"]).sel(layer=2, statistic="mean").values))
    wide = heads_only(study["beta_high"] - study["beta_low"]).sel(layer=2, statistic="mean", part="error").values
    assert ((2 * se < wide) & (wide < 8 * se)).all()


def test_layers_that_do_not_belong_together_are_refused():
    rates, tails, errors = run_of(np.random.default_rng(3), [0, 2])
    with pytest.raises(ValueError, match="results/errors: layers"):
        gather(rates.isel(layer=[0]), tails[:1], errors, np.random.default_rng(0))
