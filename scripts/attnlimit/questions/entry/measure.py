"""Couplings of the heads of a model in the token law: a token is a state and a position, drawn from pooled windows."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.probe import read
from attnlimit.theory.moments import Moments, merge, moments
from attnlimit.theory.projected import couplings

COUPLINGS = ("horizon", "constant_tilt")


def pooled_couplings(model: Any, windows: Iterable[np.ndarray], layers: Sequence[int]) -> xr.Dataset:
    """H, s0 of each head (layer, head), from covariances over the tokens of all windows; depth (layer,); attr causal.

    H = ||C_q^1/2 C_k^1/2|| / sqrt(width), s0 = |C_k^1/2 E q| / sqrt(width), q and k as the scores see them, after
    rotation where the model rotates: the usual H and s0 of a model that does not, over this population.
    """
    queries: dict[int, list[Moments]] = {}  # by layer, of each head
    keys: dict[int, list[Moments]] = {}
    widths: dict[int, float] = {}
    kinds: set[bool] = set()

    def receive(number: int, query: torch.Tensor, key: torch.Tensor, _: Any, scaling: float, causal: bool) -> None:
        kinds.add(causal)
        if number in layers:
            widths[number] = scaling**-2
            for found, tensor in ((queries, query), (keys, key)):
                new = [moments(head) for head in tensor[0].double().cpu().numpy()]  # of each head (token, width)
                found[number] = list(map(merge, found[number], new)) if number in found else new

    for tokens in windows:
        read(model, tokens, receive)
    rows = [layer_couplings(queries[number], keys[number], widths[number]) for number in layers]
    found = {name: (("layer", "head"), np.stack([row[name] for row in rows])) for name in COUPLINGS}
    depth = np.asarray(layers) / max(1, model.config.num_hidden_layers - 1)
    return xr.Dataset(
        found | {"depth": ("layer", depth)},
        coords={"layer": list(layers), "head": np.arange(len(rows[0]["horizon"]))},
        attrs={"causal": any(kinds)},
    )


def layer_couplings(queries: list[Moments], keys: list[Moments], width: float) -> dict[str, np.ndarray]:
    """Of one layer, each (head,); heads that share keys stand together."""
    group = len(queries) // len(keys)
    mean = np.stack([each.mean for each in queries])
    of_query, of_key = (np.stack([each.covariance for each in some]) for some in (queries, keys))
    return couplings(mean, of_query, of_key.repeat(group, 0), width)
