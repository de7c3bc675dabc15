"""Shares of a token among neighbours whose law is known, and how often their intervals hold it."""

from functools import partial

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import STATISTICS, heads_only, with_whole_layer
from attnlimit.base.seeds import generator
from attnlimit.questions.contexts.fit import fit_contexts, longest_run, shares

SIZES = [32, 64, 128]
CORRELATION = 0.7


def design_effect(length: int) -> float:
    """Of a run of an AR(1) process: variance of its sum over that of independent tokens, 1 + 2 sum (1 - k/g) rho^k."""
    k = np.arange(1, length)
    return float(1 + 2 * np.sum((1 - k / length) * CORRELATION**k))


def errors(units: int, replicates: int, lengths=(1, 8, 64), width=4, layer=0, seed=0) -> xr.Dataset:
    """|mean of n tokens| in `width` coordinates of independent AR(1) processes: attention without a tilt, A = 0.

    Heads, and last what stands for the whole layer.
    """
    runs = []
    for length in lengths:
        stream = generator(seed, "tokens", layer, length)
        root = np.linalg.cholesky(CORRELATION ** np.abs(np.subtract.outer(range(length), range(length))))
        noise = stream.normal(size=(units, replicates, width, SIZES[-1] // length, length))
        tokens = (noise @ root.T).reshape(units, replicates, width, -1)  # runs end to end
        served = [size for size in SIZES if size >= length]
        means = np.stack([tokens[..., :size].mean(-1) for size in served], axis=-1)
        norms = np.full((units, replicates, len(SIZES)), np.nan)
        norms[..., -len(served) :] = np.linalg.norm(means, axis=2)
        runs.append(norms)
    stack = np.broadcast_to(np.stack(runs)[:, None], (len(lengths), len(STATISTICS), units, replicates, len(SIZES)))
    scale = np.ones((len(STATISTICS), units))
    return xr.Dataset(
        {
            "error": (("run", "statistic", "head", "replicate", "n"), stack),
            "limit_scale": (("statistic", "head"), scale),
            "run_length": ("run", list(lengths)),
            "repeated_share": ("run", [0.0] * len(lengths)),
        },
        coords={
            "run": list(map(str, lengths)),
            "statistic": list(STATISTICS),
            "head": with_whole_layer(units - 1),
            "n": SIZES,
        },
    ).assign_coords(layer=layer)


def stream(layer, run, number):
    return generator(1, f"test {run}", layer, number + 1)


def test_the_share_of_an_autoregressive_process_and_the_coverage_of_its_interval():
    """Heads here are independent repetitions: one bootstrap gives an interval for each."""
    repeats = 600
    drawn = errors(repeats, replicates=24).isel(statistic=[0])
    found = shares([drawn], 400, [partial(stream, 0)]).isel(layer=0).sel(statistic="mean")
    for length in (8, 64):
        one, truth = found.sel(run=str(length)), 1 / design_effect(length)
        assert float(np.exp(np.log(one["share"]).mean())) == pytest.approx(truth, rel=0.03)
        covered = float(((one["share_low"] < truth) & (truth < one["share_high"])).mean())
        assert 0.925 < covered < 0.975  # 0.95 and three standard errors
        assert float(one["share_high"].max()) < 1
        assert abs(float(one["share_slope"].mean())) < (0.05 if length == 8 else 0.2)  # a factor, and no rate
    assert (found["share"].sel(run="1") == 1).all()
    assert np.isnan(found["size_share"].sel(run="64", n=32)).all()
    assert found["size_share"].sel(run="8", n=32).median() == pytest.approx(1 / design_effect(8), rel=0.05)


def test_independent_runs_are_not_seen_to_cost_anything():
    """A second run with the law of the first has share 1, and an interval that holds it."""
    one, other = (errors(300, 24, lengths=(1,), seed=seed).isel(statistic=[0]) for seed in (0, 5))
    other = other.assign_coords(run=["8"])
    found = shares(
        [xr.concat([one, other], "run", data_vars="minimal", coords="minimal", compat="override")],
        400,
        [partial(stream, 0)],
    ).sel(run="8", statistic="mean")
    outside = float((found["share_high"] < 1).mean())
    assert outside < 0.06
    assert float(found["median_share"].squeeze()) == pytest.approx(1, abs=0.05)


def test_fits_of_layers_have_rates_for_every_run_and_medians_over_all_heads():
    layers = [errors(4, 16, layer=layer) for layer in (0, 4)]
    about = ["run_length", "repeated_share"]
    joined = xr.concat([layer.drop_vars(about) for layer in layers], "layer").assign(layers[0][about])
    fits = fit_contexts(joined, 100, lambda layer: partial(stream, layer), 3, 0.5, 0.1)
    rates = fits.sel(statistic="mean", part="error")
    assert rates["beta"].sel(run=["1", "8"]).values == pytest.approx(0.5, abs=0.2)
    assert np.isnan(rates["beta"].sel(run="64")).all()  # two sizes are no fit
    assert np.isnan(rates["value"].sel(run="64", n=32)).all()
    both = heads_only(fits["share"]).sel(statistic="mean", run="8").values
    assert float(fits["overall_share"].sel(statistic="mean", run="8")) == pytest.approx(np.exp(np.median(np.log(both))))
    assert (
        fits["overall_share_low"].sel(run="8").max()
        < 1 / design_effect(8)
        < fits["overall_share_high"].sel(run="8").min()
    )
    assert longest_run(fits) == ("64", 64)
    assert fits.equals(fit_contexts(joined, 100, lambda layer: partial(stream, layer), 3, 0.5, 0.1))
