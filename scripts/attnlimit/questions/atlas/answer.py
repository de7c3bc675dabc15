"""What the models of the atlas have in common: sentences whose every number is a stored one."""

import numpy as np
import xarray as xr

from attnlimit.questions.atlas.compare import EPS
from attnlimit.questions.atlas.report import median_keys, span
from attnlimit.stats.estimate import Estimate

HALF = 0.5


def atlas_answer(compared: xr.Dataset) -> dict[str, str]:
    """Five sentences by key: what is there, random keys, kept keys, heads that need the whole context, H and depth."""
    names = [str(name) for name in compared["model"].values]
    texts = ", ".join(dict.fromkeys(map(str, compared["text"].values)))
    contexts = " or ".join(f"{int(each):,}" for each in np.unique(compared["context"]))
    lines = {
        "about": f"{len(names)} {('model', 'models')[len(names) > 1]}, {compared.sizes['row']} heads, on {texts}, "
        f"context {contexts} tokens; keys that a query reads for an error of 5 %, median head"
    }
    for key, protocol, words in (
        ("random", "uniform", "drawn at random"),
        ("kept", "sink_recent", "with the first and the nearest among them"),
        ("largest", "top", "of the largest weights"),
    ):
        keys = [f"{name} {median_keys(compared.sel(model=name), protocol)}" for name in names]
        lines[key] = f"keys {words}: {'; '.join(keys)}"
    shares = [at(compared, "beyond", name, protocol="uniform") for name in names]
    most = sum(bool(share.value > HALF) for share in shares)
    listed = "; ".join(f"{name} {share.value:.2f}" for name, share in zip(names, shares, strict=True))
    lines["beyond"] = (
        f"share of heads that need as many random keys as the context has, or more: {listed}; above one half in {most} "
        f"of {len(names)} models (an ordinary average of the values needs {1 / EPS**2:.0f})"
    )
    for key, quantity, words in (
        ("horizon", "error_horizon", "of the error of random keys, by first order, with H"),
        ("depth", "keys_depth", "of random keys for 5 % with depth"),
    ):
        orders = [at(compared, "order", name, quantity=quantity) for name in names]
        rise, fall = (sum(bool(sign * end > 0) for end in ends) for sign, ends in sides(orders))
        listed = "; ".join(f"{name} {span(each)}" for name, each in zip(names, orders, strict=True))
        lines[key] = (
            f"rank correlation over heads {words}: {listed}; 95 % interval entirely above 0 in {rise}, below 0 in "
            f"{fall} of {len(names)} models (over layers)"
        )
    return lines


def at(compared: xr.Dataset, variable: str, model: str, **place: str) -> Estimate:
    return Estimate.of(compared, variable, model=model, **place)


def sides(orders: list[Estimate]) -> tuple:
    """For each sign, the end of each interval that is nearest to 0 from that side."""
    return (1, [each.low for each in orders]), (-1, [each.high for each in orders])
