"""What the claims on the next token would say of simulated truths: divergences with a known ratio."""

from typing import Any

import numpy as np
import xarray as xr

from attnlimit.attention.keys import Kept
from attnlimit.questions.next_token.fit import fit_next_token

PROTOCOLS, SIZES, WINDOWS = ["uniform", "sink_recent", "window", "sink_window"], [32, 128, 384], 6
DIVERGENCE = {32: 0.3, 128: 0.12, 384: 0.05}  # of the windows


def simulated_answers(
    stream: np.random.Generator, ratio: float = 2.0, noise: float = 0.15, windows: int = WINDOWS
) -> xr.Dataset:
    """Divergences of sampled keys `ratio` times those of windows of keys; texts differ, and the two by `noise`."""
    own = np.exp(0.3 * stream.normal(size=(windows, 1, 1)))
    each = np.exp(noise * stream.normal(size=(windows, len(PROTOCOLS), len(SIZES))))
    base = np.array(list(DIVERGENCE.values())) * np.array([20.0, ratio, 1.0, 1.0])[:, None]  # (protocol, n)
    divergence = (base * own * each)[..., None]
    dims = ("window", "protocol", "n", "replicate")
    dense = 3 + 0.2 * stream.normal(size=windows)
    found: dict[str, tuple] = {
        "divergence": (dims, divergence),
        "loss": (dims, dense[:, None, None, None] + divergence),
    }
    found |= {"agreement": (dims, np.exp(-divergence)), "dense_loss": (("window",), dense)}
    return xr.Dataset(found, coords={"window": range(windows), "protocol": PROTOCOLS, "n": SIZES, "replicate": [0]})


def fitted(stream: np.random.Generator, **changes: Any) -> dict[str, xr.Dataset]:
    fits = fit_next_token(simulated_answers(stream, **changes), Kept(1, 64, 0).by_protocol())
    return {"next_token": fits.assign_attrs(windows=WINDOWS)}


# By claim: the alternative in words, and stores in which the claim is true, or the alternative is.
POWER = {
    name: (
        "sampled keys have half the divergence of a window",
        lambda truth, stream: fitted(stream, ratio=2.0 if truth else 0.5),
    )
    for name in ("next_token_window", "next_token_sink_window")
}
