"""What is compared of the heads of one model on several texts, with the noise of the replicates.

Not the rates: halves of the replicates agree on the order of errors to .9 and more, on that of rates to .3 or .4.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.questions.studies.gather import COMPARED, SHARE
from attnlimit.stats.complexity import BEYOND, tokens_needed

DRAWS = 400  # of the replicates: their standard deviation is known to 3.5 %
SPLITS = 32  # of the replicates into halves
KNOWN_SHARE = 0.5  # of its heads: a quantity that is known of fewer is not compared


class Values(NamedTuple):
    """One quantity of the heads (head,) whose quantity is known on all texts."""

    head: np.ndarray  # (head,): place among all heads of the model, layer by layer
    layer: np.ndarray  # (head,)
    seen: np.ndarray  # (text, head)
    drawn: np.ndarray  # (draw, text, head): replicates drawn again
    halves: np.ndarray  # (split, half, text, head): from either half of the replicates
    replicates: int

    @property
    def noise(self) -> np.ndarray:
        """Sampling variances (text, head); a bootstrap has divisor k in place of k - 1."""
        return self.drawn.var(0) * self.replicates / (self.replicates - 1)

    def chosen(self, use: np.ndarray) -> "Values":
        """Some of the heads."""
        kept = {name: getattr(self, name)[..., use] for name in ("head", "layer", "seen", "drawn", "halves")}
        return self._replace(**kept)


def values_of(texts: list[xr.Dataset], stream: np.random.Generator) -> dict[str, Values]:
    """The quantities of one model, by name; texts: gathered studies with the same layers, heads and sizes.

    error_{statistic}: ln of the error at the largest n, relative to its scale.  tokens_{statistic}: ln n(5 %).
    horizon: ln H, which no replicate enters.  A head that is not known on all texts is left out: its limit is
    uncertain, or n(5 %) is beyond ten times the largest n.  So is a quantity that is known of fewer than half of them.
    """
    layer = np.repeat(texts[0]["layer"].values, texts[0].sizes["head"])
    replicates = min(text.sizes["replicate"] for text in texts)
    weights = np.concatenate([np.full((1, replicates), 1 / replicates), drawing(replicates, stream)])  # (w, replicate)
    horizon = np.stack([np.log(text["horizon"].transpose("layer", "head").values.ravel()) for text in texts])
    found = {"horizon": np.broadcast_to(horizon, (len(weights), *horizon.shape))}
    known = {"horizon": np.isfinite(horizon).all(0)}
    for statistic in COMPARED:
        each = [of_text(text.sel(statistic=statistic), weights) for text in texts]
        certain = ~np.any([text["limit_uncertain"].sel(statistic=statistic).values.ravel() for text in texts], axis=0)
        for name in ("error", "tokens"):
            values = np.stack([text[name] for text in each], axis=1)  # (w, text, head)
            known[f"{name}_{statistic}"] = certain & np.isfinite(values[0]).all(0)
            most = np.log(BEYOND * texts[0]["n"].values[-1])
            found[f"{name}_{statistic}"] = np.minimum(values, most) if name == "tokens" else values
    kept = {}
    for name, values in found.items():
        if known[name].sum() >= max(2, KNOWN_SHARE * len(layer)):
            drawn, halves = values[1 : DRAWS + 1], values[DRAWS + 1 :].reshape(SPLITS, 2, *values.shape[1:])
            kept[name] = Values(np.arange(len(layer)), layer, values[0], drawn, halves, replicates).chosen(known[name])
    return kept


def drawing(replicates: int, stream: np.random.Generator) -> np.ndarray:
    """Weights of replicates: DRAWS times drawn with replacement, then SPLITS times the one half and the other.

    All texts and layers share a draw: the errors of all of them in replicate r are one item, independent of the others.
    """
    drawn = stream.multinomial(replicates, np.full(replicates, 1 / replicates), size=DRAWS) / replicates
    half = replicates // 2
    orders = np.stack([stream.permutation(replicates) for _ in range(SPLITS)])
    halves = np.stack([(orders < half), (orders >= half) & (orders < 2 * half)], axis=1) / half
    return np.concatenate([drawn, halves.reshape(-1, replicates)])


def of_text(study: xr.Dataset, weights: np.ndarray) -> dict[str, np.ndarray]:
    """ln error and ln n(5 %), (w, head), of one statistic of a study, with replicates weighted (w, replicate)."""
    error = study["error"].transpose("layer", "head", "replicate", "n").values[:, :, : weights.shape[1]]
    curve = np.tensordot(weights, error.reshape(-1, *error.shape[2:]), (1, 1))  # (w, head, n)
    scale = study["limit_scale"].transpose("layer", "head").values.ravel()
    level = np.broadcast_to(SHARE * scale, curve.shape[:-1])
    return {"error": np.log(curve[..., -1] / scale), "tokens": np.log(tokens_needed(study["n"].values, curve, level))}
