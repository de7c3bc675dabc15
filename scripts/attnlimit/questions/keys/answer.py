"""The short answer of a run on a language model: how many keys its heads need."""

import numpy as np
import xarray as xr

from attnlimit.sources.corpus.location import text_name

SAID = {"uniform": "drawn from all", "sink_recent": "drawn beside the first and the {} keys"}


def keys_answer(fits: xr.Dataset, nearest: str = "last") -> dict[str, str]:
    """Sentences by key: what was measured, keys for 5 %, how these grow with the context.

    nearest: what the keys that `recent` keeps are called; those of an encoder stand on both sides of a query.
    """
    model, context = fits.attrs["model"]["name"].rpartition("/")[2], fits.attrs["context"]
    heads = f"{fits.sizes['layer']} layers of {fits.sizes['head']} heads"
    about = (
        f"{model} ({heads}) on {text_name(fits.attrs['corpus'])}, {fits.attrs['windows']} windows, context {context:,}:"
    )
    lines = {"about": about}
    for name, words in SAID.items():
        keys = fits["first_order_keys"].sel(eps=0.05, context=context, protocol=name).values.ravel()
        low, middle, high = np.quantile(keys, (0.05, 0.5, 0.95))
        lines[f"keys_{name}"] = (
            f"keys {words.format(nearest)} for an error of 5 %: {middle:,.0f} in the median head, "
            f"{low:,.0f} to {high:,.0f} in 90 %, by exact first order{grown(fits, name)}."
        )
    return lines


def grown(fits: xr.Dataset, protocol: str) -> str:
    """How the keys grow with the context, where there is more than one."""
    if "median_growth" not in fits:
        return ""
    return f"; they grow with the context to the power {float(fits['median_growth'].sel(protocol=protocol)):.2f}"
