"""Does a coupling order the rates: of each study, of each model over its texts, and over models."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from attnlimit.rates.layers import Estimate, resample_layers
from attnlimit.rates.order import Measure, Resampling, partly_ranked, rankable, ranked
from attnlimit.rates.pooling import Pooled, pool

COUPLINGS: dict[str, Measure] = {
    "H": ranked("horizon"),
    "s0": ranked("constant_tilt"),
    "H given s0": partly_ranked("horizon", "constant_tilt"),
    "s0 given H": partly_ranked("constant_tilt", "horizon"),
}
NEARLY_ONE = 1 - 1e-9  # of a correlation, whose Fisher transform is finite


class Orders(NamedTuple):
    """Of the texts of one model."""

    texts: Estimate  # (text, coupling)
    model: Estimate  # (coupling,): mean over texts, on Fisher's scale, and back
    fisher: np.ndarray  # (coupling,): the same on Fisher's scale
    fisher_se: np.ndarray  # (coupling,): its standard error, over layers


def fisher(correlation: np.ndarray) -> np.ndarray:
    return np.arctanh(np.clip(correlation, -NEARLY_ONE, NEARLY_ONE))


def order_of_model(texts: list[pd.DataFrame], weakest_horizon: float, resampling: Resampling) -> Orders:
    """Rank correlations of beta with the couplings, over the fits that are evidence: one table of fits a text.

    The texts of a model share its layers: these are resampled once for all texts, so that whatever the texts share is
    in the interval of their mean.
    """
    used = [rankable(fits, weakest_horizon) for fits in texts]
    layers = np.unique(np.concatenate([fits["layer"].to_numpy() for fits in used]))
    columns = [{name: fits[name].to_numpy(float) for name in ("beta", "horizon", "constant_tilt")} for fits in used]
    members = [{each: np.flatnonzero(fits["layer"] == each) for each in layers} for fits in used]

    def measure(chosen: np.ndarray) -> np.ndarray:
        found = np.empty((len(used) + 1, len(COUPLINGS)))
        for place, (numbers, rows) in enumerate(zip(columns, members, strict=True)):
            taken = np.concatenate([rows[each] for each in chosen])
            drawn = {name: column[taken] for name, column in numbers.items()}
            found[place] = [of(drawn) if len(taken) > 2 else np.nan for of in COUPLINGS.values()]
        found[-1] = np.tanh(fisher(found[:-1]).mean(0))
        return found

    found = resample_layers(layers, measure, resampling)
    texts_of, model = (Estimate(*(part[..., place, :] for part in found)) for place in (slice(-1), -1))
    spread = np.nanstd(fisher(model.drawn), axis=0) if len(model.drawn) else np.full(len(COUPLINGS), np.nan)
    return Orders(texts_of, model, fisher(model.value), spread * np.sqrt(len(layers) / max(len(layers) - 1, 1)))


def order_over_models(models: list[Orders]) -> list[Pooled]:
    """Random effects over models on Fisher's scale, by coupling, brought back to correlations but for `between`."""
    pooled = []
    for place in range(len(COUPLINGS)):
        known = [each for each in models if np.isfinite(each.fisher[place] + each.fisher_se[place])]
        if not known:
            pooled.append(Pooled(np.nan, np.nan, np.nan, np.nan))
            continue
        found = pool(
            np.array([each.fisher[place] for each in known]), np.array([each.fisher_se[place] for each in known])
        )
        value, low, high = np.tanh(found[:3])
        pooled.append(Pooled(value, low, high, found.between))
    return pooled
