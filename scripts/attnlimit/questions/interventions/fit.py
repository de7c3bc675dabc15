"""Rates of changed heads, and what the change did: paired differences to the same head as it is."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import stdtr, stdtrit

from attnlimit.base.coordinates import heads_only
from attnlimit.sampling.joining import join_parts
from attnlimit.stats.estimate import Estimate, jackknife_variance, leave_out
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap, fit
from attnlimit.stats.verdicts import holm

Streams = Callable[[int], list[np.random.Generator]]  # of a layer: one for each statistic, the same at every call
DIMS = ("variant", "statistic", "head")
CHANGES = ("beta_change", "error_change")


def fit_layer(errors: xr.Dataset, draws: int, streams: Streams, *marks: float) -> xr.Dataset:
    """Rates of one layer's heads and of the whole layer in each variant: see `fits.fit_errors`.

    Variants share their samples, so they share the draws of the bootstrap too.
    """
    fits = []
    for variant in errors["variant"].values.tolist():
        bootstraps = [Bootstrap(draws, errors.attrs["nested"], each) for each in streams(int(errors["layer"]))]
        fits.append(fit_errors(errors.sel(variant=variant, drop=True), bootstraps, *marks))
    return xr.concat(fits, "variant", join="exact").assign_coords(variant=errors["variant"])


def measures(errors: np.ndarray, scale: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """beta and ln relative error at the largest n, less those of the first variant: (measure, variant, …).

    errors (variant, …, replicate, n), scale (variant, …).  Means over replicates are fitted as in `power_law`.
    """
    value = errors.mean(-2)  # (variant, …, n)
    variance = errors.var(-2) / errors.shape[-2] / value**2
    found = np.stack([fit(sizes, value, variance)["beta"], np.log(value[..., -1] / scale)])
    return found - found[:, :1]


def student(value: np.ndarray, variance: np.ndarray, dof: np.ndarray | float) -> tuple[Estimate, np.ndarray]:
    """A number with its 95 % interval by Student's law, and the two-sided probability of it by chance if it were 0.

    A number without noise is exactly what it is: of a 0, which is no change, the probability is 1.
    """
    error = np.sqrt(variance)
    half = stdtrit(dof, 0.975) * error
    ratio = np.divide(np.abs(value), error, where=error > 0, out=np.where(value == 0, 0.0, np.inf))
    return Estimate(value, value - half, value + half), 2 * stdtr(dof, -ratio)


def changes(layers: list[xr.Dataset], slope_known: xr.DataArray) -> xr.Dataset:
    """What each variant changes, with 95 % intervals by leaving out one replicate after the other.

    layers: error (variant, statistic, head, replicate, n) and limit_scale of each;  slope_known (layer, variant,
    statistic, head).  {beta,error}_change with _low, _high, _p (layer, variant, statistic, head): replicates are the
    noise.  mean_{beta,error}_change (variant, statistic): over heads, of beta those with slope_known.
    """
    kept, parts = [], []
    for errors in layers:
        items = errors["error"].transpose(*DIMS, "replicate", "n").values
        scale, sizes = errors["limit_scale"].transpose(*DIMS).values, errors["n"].values
        value = measures(items, scale, sizes)  # (measure, variant, statistic, head)
        left = leave_out(items, lambda some: measures(some, scale, sizes), axis=-2)  # (replicate, measure, …)  # noqa: B023
        estimate, probability = student(value, jackknife_variance(left), len(left) - 1)
        named: dict[str, tuple] = {}
        for place, name in enumerate(CHANGES):
            named |= Estimate(*(each[place] for each in estimate)).variables(name, DIMS)
            named[f"{name}_p"] = (DIMS, probability[place])
        labels = {name: errors[name].values for name in DIMS} | {"layer": int(errors["layer"])}
        parts.append(xr.Dataset(named, coords=labels))
        kept.append(left)
    found = join_parts(parts, "layer").assign(slope_known=slope_known)
    left = np.stack(kept)  # (layer, replicate, measure, variant, statistic, head)
    for place, name in enumerate(CHANGES):
        value = heads_only(found[name]).transpose("layer", *DIMS).values
        known = slope_known.transpose("layer", *DIMS).values[..., : value.shape[-1]]
        use = known if name == "beta_change" else np.ones(value.shape, bool)
        found = found.assign(mean_change(value, left[:, :, place, ..., : value.shape[-1]], use, name))
    return found


def mean_change(value: np.ndarray, left: np.ndarray, use: np.ndarray, name: str) -> dict[str, tuple]:
    """Mean over the heads in use, for these heads and for layers like these; value, use (layer, variant, …, head).

    These heads: replicates are the noise, left out one by one, (layer, replicate, …); they are shared by the heads of
    a layer, and layers have their own, so that variances of layers add, with Satterthwaite's degrees of freedom.
    Layers like these: layers are left out one by one.
    """
    count = use.sum((0, -1))  # (variant, statistic)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(use, value, 0).sum((0, -1)) / count
        moved = np.where(use[:, None], left, 0).sum(-1) / count  # (layer, replicate, variant, statistic)
        variance = jackknife_variance(moved.swapaxes(0, 1))  # (layer, variant, statistic)
        dof = (left.shape[1] - 1) * variance.sum(0) ** 2 / (variance**2).sum(0)
        these, _ = student(mean, variance.sum(0), np.where(variance.sum(0) > 0, dof, 1))
        found = these.variables(f"mean_{name}", DIMS[:2])
        if len(value) == 1:
            like = Estimate.without_interval(mean)
        else:
            sums = np.stack([np.where(use, value, 0).sum(-1), use.sum(-1)], axis=-1)  # (layer, variant, statistic, 2)
            without = leave_out(sums, lambda some: some[..., 0].sum(0) / some[..., 1].sum(0))
            like, _ = student(mean, jackknife_variance(without), len(value) - 1)
    return found | like.variables(f"mean_{name}_layers", DIMS[:2])


def slopes_known(saturated: xr.DataArray) -> xr.DataArray:
    """Heads saturated neither as they are, the first variant, nor changed."""
    return ~saturated & ~saturated.isel(variant=0, drop=True)


def fit_interventions(layers: list[xr.Dataset], draws: int, streams: Streams, *marks: float) -> xr.Dataset:
    """Rates and changes of all layers."""
    fits = join_parts(
        [fit_layer(errors, draws, streams, *marks) for errors in layers], "layer", ("alpha", "tilt_factor")
    )
    return fits.merge(changes(layers, slopes_known(fits["saturated"].sel(part="error", drop=True))))


def strongest(fits: xr.Dataset) -> xr.Dataset:
    """The variant with the largest factor on H."""
    return fits.isel(variant=int(fits["alpha"].values.argmax()))


class Counts(NamedTuple):
    """Heads by what a change surely did, with Holm's correction over all of them."""

    fallen: int
    risen: int
    open: int
    saturated: list[str]  # heads that are left out, as layer.head

    @property
    def words(self) -> str:
        return f"{self.fallen} fall, {self.risen} rise, {self.open} open"


def counted(fits: xr.Dataset, name: str, level: float) -> Counts:
    """Of one variant and statistic, (layer, head): heads whose change is surely below 0, surely above, and others."""
    heads = heads_only(fits).stack(row=("layer", "head"))
    use = heads["slope_known"].values if name == "beta_change" else np.ones(heads.sizes["row"], bool)
    change, sure = heads[name].values[use], np.array(holm(heads[f"{name}_p"].values[use].tolist())) < 1 - level
    fallen, risen = int((sure & (change < 0)).sum()), int((sure & (change > 0)).sum())
    left_out = [f"{layer}.{head}" for layer, head in heads["row"].values[~use]]
    return Counts(fallen, risen, int(use.sum()) - fallen - risen, left_out)
