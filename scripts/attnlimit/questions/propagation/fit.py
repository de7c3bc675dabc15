"""From errors after every layer to rates, gains, and the test whether errors of different layers add in quadrature.

Differences to the dense states of independent draws with mean zero add like vectors at right angles: their expected
squares add, E|sum_l d_l|^2 = sum_l E|d_l|^2, and nothing else does. So every number here is of mean squares over blocks
and replicates, relative to the scale of the block, and never of mean norms.

Intervals are over blocks, resampled whole with their replicates: another choice of blocks of the same text, and other
draws of keys. That of a difference between layers or regimes is narrower than those of its sides, as blocks are shared.
"""

import numpy as np
import xarray as xr

from attnlimit.stats.power_law import (
    LOCAL,
    Bootstrap,
    Curve,
    error_curve,
    fit_curve,
    interval,
    levels,
    line_weights,
    resampling,
    slope_weights,
    upper_two_thirds,
)

FITTED = ("beta", "beta_low", "beta_high", "chi2", "dof")


def fit_propagation(errors: xr.Dataset, bootstrap: Bootstrap, misfit: float, saturated: float = np.inf) -> xr.Dataset:
    """Rates (statistic, layer), gains (statistic, drawn_layer, layer, single_n), quadrature (statistic, layer, …).

    errors: those of measure_propagation.  The bootstrap is joint over n: all sizes have the same blocks.
    late_saturated (statistic, layer): at the smallest n of late_rate, the error is above this share of its scale.
    """
    if errors.sizes["block"] < 2:
        raise ValueError(f"propagation: {errors.sizes['block']} block; an interval needs at least 2")
    together = block_squares(errors["error"], errors["limit_scale"])  # (statistic, layer, block, n)
    single = block_squares(errors["single_error"], errors["limit_scale"])  # (statistic, drawn_layer, layer, block, …)
    fits = rates(together, bootstrap)
    fits["misfit"] = fits["chi2"] > misfit * fits["dof"]
    blocks = errors.sizes["block"]
    weights = xr.DataArray(resampling(blocks, 1, bootstrap)[:, 0], dims=("draw", "block"))
    drawn = summarise(*(xr.dot(weights, squares, dim="block") for squares in (single, together)))
    for name, value in summarise(single.mean("block"), together.mean("block")).items():
        estimate = interval(value.values, drawn[name].transpose("draw", *value.dims).values, levels(blocks))
        fits = fits.assign(estimate.variables(name, value.dims)).assign({name: value})
    late = fits["rms"].isel(n=upper_two_thirds(fits["n"].values))
    return fits.assign(
        quadrature_in_step=in_step(single.mean("block")), late_saturated=late.isel(n=0, drop=True) > saturated
    )


def block_squares(error: xr.DataArray, scale: xr.DataArray) -> xr.DataArray:
    """Mean over replicates of the squared error, relative to the scale of its block."""
    return ((error / scale) ** 2).mean("replicate")


def rates(squares: xr.DataArray, bootstrap: Bootstrap) -> xr.Dataset:
    """Power-law fits of the root mean square over blocks, of each statistic and layer."""
    ordered = squares.transpose("statistic", "layer", "block", "n")
    statistics, layers, blocks, sizes = ordered.shape
    fit = fit_curve(ordered["n"].values, root(error_curve(ordered.values.reshape(-1, blocks, sizes), bootstrap)))
    found = {name: fit[name].reshape(statistics, layers, *fit[name].shape[1:]) for name in (*FITTED, *LOCAL)}
    dims = ("statistic", "layer", "interval")
    fits = {name: (dims[: numbers.ndim], numbers) for name, numbers in found.items()}
    return xr.Dataset(fits, coords={name: ordered[name] for name in ("statistic", "layer", "n")})


def root(curve: Curve) -> Curve:
    """The square root of a curve: its relative variance is a quarter."""
    return curve._replace(
        value=np.sqrt(curve.value),
        relative_variance=curve.relative_variance / 4,
        resampled=np.sqrt(curve.resampled),
        resampled_variance=curve.resampled_variance / 4,
    )


def summarise(single: xr.DataArray, together: xr.DataArray) -> dict[str, xr.DataArray]:
    """Roots of mean squares with one layer drawn, and with all; gains and the test of quadrature from them.

    Gain G[l, m] = error after m over error after l if only l is drawn; NaN before l.
    Quadrature after m: sqrt(sum_l error_l^2) / error, 1 if errors add as independent ones do, above 1 if they cancel or
    the error with all layers saturates, below 1 if they reinforce each other.
    late_rate and depth_change: see `depth`.
    """
    own = xr.concat([single.sel(drawn_layer=layer, layer=layer, drop=True) for layer in single["layer"]], "drawn_layer")
    gain = (single / own.assign_coords(drawn_layer=single["drawn_layer"])) ** 0.5
    same = together.sel(n=single["single_n"].values).rename(n="single_n").assign_coords(single_n=single["single_n"])
    return {
        "rms": together**0.5,
        "single_rms": single**0.5,
        "gain": gain.where(single["layer"] >= single["drawn_layer"]),
        "quadrature": (single.sum("drawn_layer") / same) ** 0.5,
        **depth(together),
    }


def depth(together: xr.DataArray) -> dict[str, xr.DataArray]:
    """Rates and their change from the first layer to the last, of mean squares (…, layer, n) with all layers drawn.

    late_rate (…, layer): minus the slope of log error on log n over the upper two thirds of the sizes, all alike;
    depth_change (…): by how much the least-squares line of late_rate on the layer differs between its ends.
    """
    late, layers = together.isel(n=upper_two_thirds(together["n"].values)), np.arange(together.sizes["layer"])
    rate = xr.dot(np.log(late) / 2, xr.DataArray(slope_weights(late["n"].values), dims="n"), dim="n")
    across = line_weights(layers) * layers[-1] if len(layers) > 1 else np.zeros(1)  # one layer: no change
    return {"late_rate": rate, "depth_change": xr.dot(rate, xr.DataArray(across, dims="layer"), dim="layer")}


def in_step(single: xr.DataArray) -> xr.DataArray:
    """What quadrature would be if the errors of all layers pointed the same way: sqrt(sum e^2) / sum e."""
    return single.sum("drawn_layer") ** 0.5 / (single**0.5).sum("drawn_layer")
