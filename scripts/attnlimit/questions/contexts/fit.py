"""How many independent tokens a token among neighbours is worth: rates and effective shares by length of the runs."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from attnlimit.sampling.joining import join_parts
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap, interval, levels, resampling

ALONE = "1"  # the run of independent tokens, which the others are compared with
Pair = tuple[np.ndarray, np.ndarray]  # an estimate (1, …) and the same of bootstrap draws (draw, …)
Stream = Callable[[str, int], np.random.Generator]  # of a run and a number


def longest_run(fits: xr.Dataset) -> tuple[str, int]:
    """The run of most tokens, whose share speaks for a context; `document` is none: its share falls with n."""
    lengths = {run: int(run) for run in fits["run"].values.tolist() if run.isdigit()}
    return max(lengths.items(), key=lambda item: item[1])


def layers_measured(fits: xr.Dataset) -> str:
    """layers 0, 2, 5"""
    numbers = fits["layer"].values
    return f"layer{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def fit_layer(errors: xr.Dataset, draws: int, stream: Stream, *marks: float) -> xr.Dataset:
    """Rates of one layer's heads and of the whole layer for each run, along `run`: see `fits.fit_errors`.

    errors holds error (run, statistic, head, replicate, n) and so on; a run is fitted on the sizes that hold it, and
    NaN stands at the others.  Slopes between neighbouring sizes are left out: the sizes differ from run to run.
    """
    fits = []
    for run in errors["run"].values.tolist():
        own = errors.sel(run=run, drop=True)
        own = own.dropna("n", how="all", subset=["error"])
        bootstraps = [Bootstrap(draws, True, stream(run, number)) for number in range(own.sizes["statistic"])]
        fits.append(fit_errors(own, bootstraps, *marks).drop_dims("interval"))
    varying = [str(name) for name, array in fits[0].data_vars.items() if "statistic" in array.dims]
    joined = xr.concat([fit[varying] for fit in fits], "run", join="outer")
    return joined.assign_coords(run=errors["run"]).assign(fits[0].drop_vars(varying).drop_vars("n"))


def drawn_squares(errors: xr.Dataset, draws: int, stream: Stream) -> Pair:
    """Mean squared errors (1, run, statistic, head + 1, n), the whole layer last, and in bootstrap draws (draw, …).

    Replicates are resampled whole, jointly over sizes, statistics and heads, which share them.  The samples of two
    runs are independent, and so are their resamplings.
    """
    squares = errors["error"].transpose("run", "statistic", "head", "replicate", "n").values ** 2
    replicates = squares.shape[3]
    drawn = []
    for run, numbers in zip(errors["run"].values.tolist(), squares, strict=True):
        weights = resampling(replicates, 1, Bootstrap(draws, True, stream(run, -1)))[:, 0]  # (draw, replicate)
        drawn.append(np.einsum("shrn,dr->dshn", numbers, weights, optimize=True))
    return squares.mean(3)[None], np.stack(drawn, axis=1)


def log_shares(squares: np.ndarray, alone: int) -> np.ndarray:
    """log of s(g) = E|error at g = 1|^2 / E|error at g|^2 at the same n: (draw, run, statistic, head + 1, n).

    Where errors are averages, E|error|^2 goes with 1/n, and n tokens in runs of g are worth s(g) n independent ones.
    Root mean squares over replicates, because variances of averages add: a mean of norms has no such law.
    """
    return np.log(squares[:, [alone]]) - np.log(squares)


def over_sizes(logs: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean log share over the sizes at which there is one, and its slope on log n: (…, n) to (…).

    A slope of 0 is a share that does not depend on n: neighbours then cost a factor and no rate.  NaN of one size.
    """
    use = np.isfinite(logs)
    count = use.sum(-1)
    log_size = np.where(use, np.log(sizes), 0)
    values = np.where(use, logs, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = values.sum(-1) / count
        offset = np.where(use, log_size - (log_size.sum(-1) / count)[..., None], 0)
        slope = (offset * values).sum(-1) / (offset**2).sum(-1)
    return mean, slope


def with_interval(pair: Pair, replicates: int) -> Estimate:
    """At the levels of two independent samples."""
    return interval(pair[0][0], pair[1], levels(replicates, 2))


def shares(layers: list[xr.Dataset], draws: int, streams: list[Stream]) -> xr.Dataset:
    """Effective shares of a token with 95 % intervals, from the errors of each layer.

    share, share_slope (layer, run, statistic, head): over the sizes that a run has;  size_share (…, n) at each;
    median_share (layer, run, statistic) over the heads of a layer;  overall_share (run, statistic) over the heads of
    all layers.  Intervals resample replicates, those of each layer by themselves: they are about these heads of these
    layers.  Layers are not resampled, and nothing is said of layers not measured.
    """
    first = layers[0]
    runs, sizes, replicates = first["run"].values.tolist(), first["n"].values, first.sizes["replicate"]
    dims = ("run", "statistic", "head")
    of_layers: list[xr.Dataset] = []
    of_heads: list[Pair] = []
    for errors, stream in zip(layers, streams, strict=True):
        estimate, drawn = (log_shares(each, runs.index(ALONE)) for each in drawn_squares(errors, draws, stream))
        (mean, slope), (drawn_mean, drawn_slope) = (over_sizes(each, sizes) for each in (estimate, drawn))
        of_heads.append((mean[..., :-1], drawn_mean[..., :-1]))
        share, slope_of_share, by_size, middle = (
            with_interval(pair, replicates)
            for pair in ((mean, drawn_mean), (slope, drawn_slope), (estimate, drawn), median(of_heads[-1:]))
        )
        named = share.map(np.exp).variables("share", dims) | slope_of_share.variables("share_slope", dims)
        named |= by_size.map(np.exp).variables("size_share", (*dims, "n"))
        named |= middle.map(np.exp).variables("median_share", dims[:2])
        labels = {name: errors[name].values for name in (*dims, "n")} | {"layer": int(errors["layer"])}
        of_layers.append(xr.Dataset(named, coords=labels))
    overall = with_interval(median(of_heads), replicates).map(np.exp)
    return join_parts(of_layers, "layer").assign(overall.variables("overall_share", dims[:2]))


def median(parts: list[Pair]) -> Pair:
    """Over the heads of several layers, of an estimate and of its draws."""
    estimates, drawn = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    return np.median(estimates, axis=-1), np.median(drawn, axis=-1)


def fit_contexts(errors: xr.Dataset, draws: int, stream_of: Callable[[int], Stream], *marks: float) -> xr.Dataset:
    """Rates and shares of all layers: errors (layer, run, statistic, head, replicate, n)."""
    numbers = errors["layer"].values.tolist()
    layers, streams = [errors.sel(layer=number) for number in numbers], [stream_of(number) for number in numbers]
    fits = [fit_layer(layer, draws, stream, *marks) for layer, stream in zip(layers, streams, strict=True)]
    labels = errors[["run_length", "repeated_share"]]
    return join_parts(fits, "layer").merge(shares(layers, draws, streams)).assign(labels.data_vars)
