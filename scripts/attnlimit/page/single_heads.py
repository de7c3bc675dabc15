"""Single heads for those who look at one: a table of fits, one of errors, one of tails, and each head in words."""

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.base.coordinates import heads_only
from attnlimit.page.answer import NAMES, two_digits
from attnlimit.stats.complexity import BEYOND, SHARES
from attnlimit.stats.table import MARKS, flat, tokens_columns

NORMAL = 1.96  # half-width of a 95 % interval in standard errors
LEAST = 0.1  # of an error: where an interval that reaches 0 ends on a logarithmic axis
FIT = ["horizon", "constant_tilt", "bound_v3", "beta", "beta_low", "beta_high", "intercept", "relative_error", *MARKS]
FIRST_ORDER = ("predicted_error", "predicted_tokens_5", "usable_from")
PREDICTED_SHARE = 0.05  # eps of the predicted n(eps) that is shown
POWER_LAW = "a power law"
UNRELIABLE = "not reliable"  # first order where its expansion does not hold


def of_error(rates: xr.Dataset) -> xr.Dataset:
    """Fits of the error itself, heads only."""
    return heads_only(rates).sel(part="error", statistic=list(NAMES), drop=True)


def head_table(rates: xr.Dataset, first: xr.Dataset | None = None) -> pd.DataFrame:
    """One row a head and statistic: couplings, rate with its interval, tokens needed; hollow: beta is no exponent.

    first: the fits of first order, if the run has them: predicted error at the largest n, relative, and n(5 %).
    """
    fits = of_error(rates)
    if first is not None:
        of_heads = heads_only(first)
        fits = fits.assign(
            predicted_error=of_heads["predicted"].isel(n=-1, drop=True) / of_heads["limit_scale"],
            predicted_tokens_5=of_heads["tokens_predicted"].sel(eps=PREDICTED_SHARE, drop=True),
            usable_from=of_heads["usable_from"],
        )
    needed = {name: array for name, array in tokens_columns(fits).items() if not name.endswith("extrapolated")}
    hollow = fits[list(MARKS)].to_dataarray("mark").any("mark")
    known = [*FIT, *(name for name in FIRST_ORDER if name in fits)]
    return flat(fits[known].assign(needed | {"hollow": hollow}), "layer", "head", "statistic")


def curve_table(rates: xr.Dataset, first: xr.Dataset | None = None) -> pd.DataFrame:
    """One row a head, statistic and n: the error relative to its scale, its 95 % interval, and the fitted power law.

    With the fits of first order also the root mean square error that it predicts, where it is reliable.

    fit_low to fit_high: lines with the slopes in the interval of beta, through the fit at the geometric mean of n.
    """
    fits = of_error(rates)
    n, middle = fits["n"], float(np.exp(np.log(fits["n"]).mean()))
    centre = np.exp(fits["intercept"]) * middle ** -fits["beta"] / fits["limit_scale"]
    fitted, *ends = (centre * (n / middle) ** -fits[name] for name in ("beta", "beta_low", "beta_high"))
    value, half = fits["value"] / fits["limit_scale"], NORMAL * fits["value_se"] / fits["limit_scale"]
    table = {"error": value, "error_low": np.maximum(value - half, LEAST * value), "error_high": value + half}
    table |= {"fit": fitted, "fit_low": np.minimum(*ends), "fit_high": np.maximum(*ends)}
    if first is not None:
        of_heads = heads_only(first)
        usable = of_heads["n"] >= of_heads["usable_from"]
        table["predicted"] = (of_heads["predicted"] / of_heads["limit_scale"]).where(usable)
    order = ["layer", "head", "statistic", "n"]
    return flat(xr.Dataset(table), *order)[[*order, *table]]


def tail_table(layers: list[xr.Dataset]) -> pd.DataFrame:
    """One row a head and scale s: R(s) along the head's first direction, and whether enough tokens carry it."""
    tables = []
    for layer in layers:
        data = heads_only(layer)[["log_mgf_ratio", "effective_tokens"]].isel(direction=0)
        table = flat(data, "head", "scale")
        tables.append(
            table.assign(layer=int(layer["layer"]), carried=table["effective_tokens"] >= layer.attrs["effective"])
        )
    return pd.concat(tables)[["layer", "head", "scale", "log_mgf_ratio", "carried"]]


def in_words(heads: pd.DataFrame, sizes: np.ndarray, tails: list[xr.Dataset]) -> dict[str, dict[str, str]]:
    """What a page shows of each head, by `layer-head`: of the head, and, with _mean or _cov behind, of its errors."""
    words: dict[str, dict[str, str]] = {}
    for fit in heads.to_dict("records"):
        head, name = words.setdefault(f"{fit['layer']}-{fit['head']}", {}), fit["statistic"]
        head |= {key: f"{fit[key]:.2g}" for key in ("horizon", "constant_tilt", "bound_v3")}
        beta, low, high = (f"{fit[key]:.2f}".replace("-", "−") for key in ("beta", "beta_low", "beta_high"))
        head[f"beta_{name}"] = f"{beta} [{low}, {high}]"
        head[f"error_{name}"] = in_percent(fit["relative_error"])
        if "usable_from" in fit:
            least, tokens = fit["usable_from"], fit["predicted_tokens_5"]
            head[f"predicted_error_{name}"] = in_percent(fit["predicted_error"]) if sizes[-1] >= least else UNRELIABLE
            head[f"predicted_tokens_5_{name}"] = two_digits(tokens) if tokens >= least else UNRELIABLE
            head["usable_from"] = two_digits(least)
        for share in (f"tokens_{100 * share:.0f}" for share in SHARES):
            head[f"{share}_{name}"] = needed(fit[share], sizes)
        head[f"marks_{name}"] = ", ".join(words for mark, words in MARKS.items() if fit[mark]) or POWER_LAW
    for layer in tails:
        for number in heads_only(layer)["head"].values:
            data = layer.sel(head=number)
            words[f"{int(layer['layer'])}-{number}"] |= {
                "kurtosis": f"{float(data['kurtosis'].isel(direction=0)):.2f}".replace("-", "−"),
                "sub_gaussian": f"{float(data['sub_gaussian']):.2f}",
            }
    return words


def in_percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.2g} %" if percent < 10 else f"{percent:,.0f} %"


def needed(tokens: float, sizes: np.ndarray) -> str:
    """A number of tokens as `complexity.tokens_needed` means it, in few letters; † for one that is extrapolated."""
    if np.isnan(tokens):
        return "not known"
    if np.isinf(tokens):
        return f"> {BEYOND * int(sizes[-1]):,}"
    if tokens <= sizes[0]:
        return f"≤ {int(sizes[0]):,}"
    return two_digits(tokens) + (" †" if tokens > sizes[-1] else "")


def slowest(heads: pd.DataFrame) -> tuple[int, int]:
    """Layer and head of the smallest rate of the mean: what a page shows first."""
    fit = heads[heads["statistic"] == "mean"].sort_values(["beta", "layer", "head"]).iloc[0]
    return int(fit["layer"]), int(fit["head"])
