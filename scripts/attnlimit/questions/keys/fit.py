"""From errors of drawn keys to rates, keys for a wanted error, gains and growth, each beside its exact first order.

Windows of text are the sample: every interval is over windows, left out one at a time, with Student's law. Windows are
few, so that intervals are wide; they speak of other windows of such text, for these heads of this model.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr

from attnlimit.attention.key_protocols import SAMPLED
from attnlimit.questions.keys.first_order import FACTS, growth_of, keys_by_first_order
from attnlimit.stats.complexity import tokens_needed
from attnlimit.stats.student import over_windows

EPS = (0.10, 0.05)
FURTHER = ("output_error", "error_quantile", "stratum")
HEADS = ("layer", "head")
READS_ALL = 1e-5  # rms error, of S: what rounding leaves where a query reads every key
Measure = Callable[[xr.Dataset], xr.DataArray]


def fit_keys(errors: xr.Dataset, context: int, kept: dict[str, int]) -> xr.Dataset:
    """errors: those of measure_keys along `window`;  context: at which keys were drawn;  kept: keys, by protocol.

    What comes out: STORES in about.py.
    """
    if errors.sizes["window"] < 2:
        raise ValueError(f"keys: {errors.sizes['window']} window; an interval needs at least 2")
    data = errors[["first_order", "second_moment", "stratum"]].assign(square=(errors["error"] ** 2).mean("replicate"))
    sampled = data.sel(protocol=[name for name in data["protocol"].values if name in SAMPLED])
    fits = [errors[[*FACTS, *FURTHER]].mean("window"), budgets(errors, kept)]
    fits += [in_logs("rms", data, rms), *with_median("beta", sampled, rates, logs=False)]
    at = [at_eps(data, sampled, eps, context, kept) for eps in EPS]
    fits += [xr.concat(at, "eps").assign_coords(eps=list(EPS))]
    fits += [in_logs("second_moment", sampled, lambda each: each["second_moment"].mean("window"))]
    fits += [*with_median("gain", sampled, gains), in_logs("joint_gain", sampled, joint_gain)]
    if errors.sizes["context"] > 1:
        fits += with_median("growth", sampled, growth_of, logs=False)
    return xr.merge(fits, join="outer", compat="no_conflicts").sel(protocol=errors["protocol"])


def rms(data: xr.Dataset) -> xr.DataArray:
    """Root mean square error over windows, replicates and queries, relative to S."""
    return data["square"].mean("window") ** 0.5


def rates(data: xr.Dataset) -> xr.DataArray:
    """beta: minus the slope of log error on log n, all sizes alike."""
    log_size = np.log(data["n"].astype(float))
    offset = log_size - log_size.mean()
    return -(offset * np.log(rms(data))).sum("n", skipna=False) / (offset**2).sum()


def measured_keys(data: xr.Dataset, eps: float) -> xr.DataArray:
    """n(eps): keys from which on the error is at most eps of S, see `complexity.tokens_needed`.

    Infinite too where no size is enough that leaves an error: one that reads every key has none, and a line in logs
    down to it would mean nothing.
    """
    curve = rms(data).transpose(..., "n")
    keys = tokens_needed(data["n"].values, curve.values, np.full(curve.shape[:-1], eps))
    seen = curve.values > READS_ALL
    last = curve.shape[-1] - 1 - seen[..., ::-1].argmax(-1)  # the largest size that leaves an error, or the largest
    left = np.take_along_axis(curve.values, last[..., None], -1)[..., 0]
    return curve.isel(n=0, drop=True).copy(data=np.where((left > eps) & ~seen[..., -1], np.inf, keys))


def at_eps(data: xr.Dataset, sampled: xr.Dataset, eps: float, context: int, kept: dict[str, int]) -> xr.Dataset:
    """Keys for one wanted error, measured and by first order, and the ratio of the two.

    The ratio is of cells where the first order may be used and the measured number lies between the sizes; its median
    is over these cells, the same ones with any window left out.
    """
    first = keys_by_first_order(sampled, eps)
    parts = with_median("keys", data, lambda each: measured_keys(each, eps))
    parts += with_median("first_order_keys", sampled, lambda each: keys_by_first_order(each, eps)["keys"])
    keys, sizes = measured_keys(sampled, eps), data["n"].values
    use = first["reliable"].sel(context=context, drop=True) & (keys > sizes[0]) & (keys <= sizes[-1])

    def ratio(each: xr.Dataset) -> xr.DataArray:
        predicted = keys_by_first_order(each, eps)["keys"].sel(context=context, drop=True)
        return (predicted / measured_keys(each, eps)).where(use)

    parts += [over_windows("beyond", data, lambda each: beyond(each, eps, context, kept))]
    parts += [in_logs("median_first_order_ratio", sampled, lambda each: ratio(each).median())]
    return xr.merge(parts, join="outer", compat="no_conflicts").assign(
        keys_extrapolated=(parts[0]["keys"] > sizes[-1]) & np.isfinite(parts[0]["keys"]),
        first_order_reliable=first["reliable"].astype(float),  # NaN where a protocol has no first order
        cache_share=first["share"],
        first_order_ratio=ratio(sampled),
    )


def beyond(data: xr.Dataset, eps: float, context: int, kept: dict[str, int]) -> xr.DataArray:
    """Share of heads whose queries must read as many keys as the context has, or more: n(eps) + kept >= context."""
    return (measured_keys(data, eps) + extra_keys(data, kept) >= context).mean(HEADS)


def gains(data: xr.Dataset) -> xr.DataArray:
    """Mean squared error of `uniform` over that of a protocol, at the largest n."""
    last = data["square"].isel(n=-1, drop=True).mean("window")
    return last.sel(protocol="uniform", drop=True) / last


def joint_gain(data: xr.Dataset) -> xr.DataArray:
    """Gain of first and last keys kept together, over the product of their gains alone; median over heads."""
    gain = gains(data)
    both, first, last = (gain.sel(protocol=name, drop=True) for name in ("sink_recent", "sink", "recent"))
    return (both / (first * last)).median(HEADS)


def budgets(errors: xr.Dataset, kept: dict[str, int]) -> xr.Dataset:
    """Keys that a query reads: those kept and n more; those without a sample read as many as sink_recent does."""
    return xr.Dataset({"budget": errors["n"] + extra_keys(errors, kept)})


def extra_keys(data: xr.Dataset, kept: dict[str, int]) -> xr.DataArray:
    """Keys that a query reads besides n, (protocol,)."""
    return xr.DataArray([kept.get(name, 0) for name in data["protocol"].values], {"protocol": data["protocol"]})


def with_median(name: str, data: xr.Dataset, measure: Measure, logs: bool = True) -> list[xr.Dataset]:
    """A number of each head, and its median over all heads of all layers, both with intervals over windows.

    logs: it is above zero, and its interval is of the logarithm.
    """
    find = in_logs if logs else over_windows
    return [
        find(name, data, measure),
        find(f"median_{name}", data, lambda each: measure(each).median(HEADS, skipna=False)),
    ]


def in_logs(name: str, data: xr.Dataset, measure: Measure) -> xr.Dataset:
    """A measure above zero of all windows, with the interval of its logarithm."""
    return over_windows(name, data, lambda each: xr.apply_ufunc(np.log, measure(each)), np.exp)
