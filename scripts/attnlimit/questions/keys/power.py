"""What the claims on keys would say of simulated truths: errors with a known law, fitted as those of a run."""

from typing import Any

import numpy as np
import xarray as xr

from attnlimit.attention.key_protocols import PROTOCOLS, SAMPLED
from attnlimit.attention.keys import Kept
from attnlimit.questions.keys.first_order import FACTS
from attnlimit.questions.keys.fit import fit_keys

CONTEXT, CONTEXTS = 1024, (256, 512, 1024, 2048, 4096)
SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
GAINS = {"uniform": 1.0, "sink": 1.5, "recent": 3.0, "heavy_recent": 12.0, "reservoir": 9.0}
WINDOWS = 6


def simulated_errors(
    stream: np.random.Generator,
    growth: float = 1.0,
    first_order: float = 1.0,
    together: float = 2.0,
    noise: float = 0.15,
    windows: int = WINDOWS,
    heads: tuple[int, int] = (4, 4),
) -> xr.Dataset:
    """E error^2 = c1 / n with c1 of each head; windows differ by a factor with a standard deviation of `noise` in logs.

    growth: power of the context in c1;  first_order: what the predicted c1 is too large by;  together: gain of first
    and last keys over the product of their single gains.
    """
    layers, count = heads
    gains = GAINS | {
        "sink_recent": together * GAINS["sink"] * GAINS["recent"],
        "window": 30.0,
        "sink_window": 60.0,
        "top": 300.0,
    }
    gain = np.array([gains[name] for name in PROTOCOLS])
    own = 2.5 * np.exp(0.3 * stream.normal(size=(layers, 1, count)))  # c1 / S^2 of uniform draws at CONTEXT

    def factor(*shape: int) -> np.ndarray:
        return np.exp(noise * stream.normal(size=shape))

    c1 = own / gain[:, None] * factor(windows, layers, len(PROTOCOLS), count)  # (window, layer, protocol, head)
    squares = c1[:, :, :, None, None] / np.array(SIZES)[:, None]  # (…, replicate, n, head)
    squares = np.repeat(squares, 2, axis=3) * factor(windows, layers, len(PROTOCOLS), 2, 1, count)
    lengths = (np.array(CONTEXTS) / CONTEXT) ** growth
    shift = factor(windows, layers, len(CONTEXTS), 1, count)
    order = first_order * c1[:, :, None] * lengths[:, None, None] * shift  # (window, layer, context, protocol, head)
    sampled = np.array([name in SAMPLED for name in PROTOCOLS])[:, None]
    facts = {
        name: (("window", "layer", "head"), np.full((windows, layers, count), 0.5))
        for name in FACTS
        if name != "largest_mass"
    }
    dims = ("window", "layer", "context", "protocol", "head")
    return xr.Dataset(
        facts
        | {
            "error": (("window", "layer", "protocol", "replicate", "n", "head"), np.sqrt(squares)),
            "first_order": (dims, np.where(sampled, order, np.nan)),
            "second_moment": (dims, np.where(sampled, np.ones_like(order), np.nan)),
            "stratum": (dims[:-1], np.full(order.shape[:-1], 768.0)),
            "output_error": (("window", "layer", "protocol", "n", "head"), np.sqrt(squares.mean(3))),
            "error_quantile": (
                ("window", "layer", "quantile", "protocol", "n", "head"),
                np.sqrt(squares.mean(3))[:, :, None],
            ),
            "largest_mass": (("window", "layer", "largest", "head"), np.full((windows, layers, 3, count), 0.5)),
        },
        coords={
            "window": range(windows),
            "layer": range(layers),
            "head": range(count),
            "kv_head": ("head", np.arange(count) * 2 // count),
            "protocol": list(PROTOCOLS),
            "context": list(CONTEXTS),
            "n": list(SIZES),
            "replicate": range(2),
            "quantile": [0.5],
            "largest": [16, 64, 256],
        },
    )


def fitted(stream: np.random.Generator, **changes: Any) -> dict[str, xr.Dataset]:
    fits = fit_keys(simulated_errors(stream, **changes), CONTEXT, Kept(1, 64, 4).by_protocol())
    return {"keys": fits.assign_attrs(windows=WINDOWS)}


# By claim: the alternative in words, and stores in which the claim is true, or the alternative is.
POWER = {
    "keys_first_order": (
        "the first order is half again too large",
        lambda truth, stream: fitted(stream, first_order=1.0 if truth else 1.5, noise=0.05),
    ),
    "keys_growth": (
        "keys do not depend on the context",
        lambda truth, stream: fitted(stream, growth=1.0 if truth else 0.0),
    ),
    "keys_together": (
        "kept together, first and last keys gain two thirds of the product",
        lambda truth, stream: fitted(stream, together=2.0 if truth else 2 / 3),
    ),
}
