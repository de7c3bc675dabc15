"""Does a coupling order the rates: of each study, of each model over its texts, and over models."""

from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pandas as pd

from attnlimit.questions.studies.layers import fisher, leave_out_layers
from attnlimit.questions.studies.pooling import Pooled, pool
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.order import Measure, partly_ranked, rankable, ranked

COUPLINGS: dict[str, Measure] = {
    "H": ranked("horizon"),
    "s0": ranked("constant_tilt"),
    "H given s0": partly_ranked("horizon", "constant_tilt"),
    "s0 given H": partly_ranked("constant_tilt", "horizon"),
}
FEWEST = 3  # heads: a partial correlation of fewer is none


class Orders(NamedTuple):
    """Of the texts of one model."""

    texts: Estimate  # (text, coupling)
    model: Estimate  # (coupling,): mean over texts, on Fisher's scale, and back
    fisher: np.ndarray  # (coupling,): the same on Fisher's scale
    fisher_se: np.ndarray  # (coupling,): its standard error, over layers


def order_of_model(texts: list[pd.DataFrame], weakest_horizon: float) -> Orders:
    """Rank correlations of beta with the couplings, over the fits that are evidence: one table of fits a text.

    The texts of a model share its layers: a layer is left out of all texts at once, so that whatever the texts share is
    in the interval of their mean.
    """
    used = [rankable(fits, weakest_horizon) for fits in texts]
    layers = np.unique(np.concatenate([fits["layer"].to_numpy() for fits in used]))
    columns = [{name: fits[name].to_numpy(float) for name in ("beta", "horizon", "constant_tilt")} for fits in used]
    members = [{each: np.flatnonzero(fits["layer"] == each) for each in layers} for fits in used]

    def measure(chosen: np.ndarray) -> np.ndarray:
        """(text + 1, coupling) on Fisher's scale, the last the mean over texts."""
        found = np.full((len(used), len(COUPLINGS)), np.nan)
        for place, (numbers, rows) in enumerate(zip(columns, members, strict=True)):
            taken = np.concatenate([rows[each] for each in chosen])
            if len(taken) > FEWEST:
                fits = {name: column[taken] for name, column in numbers.items()}
                found[place] = fisher(np.array([of(fits) for of in COUPLINGS.values()]))
        return np.vstack([found, found.mean(0)])

    found, se = leave_out_layers(layers, measure)
    texts_of, model = (found.map(itemgetter(place)) for place in (slice(-1), -1))
    return Orders(texts_of.map(np.tanh), model.map(np.tanh), model.value, se[-1])


def order_over_models(models: list[Orders]) -> list[Pooled]:
    """Random effects over models on Fisher's scale, by coupling, brought back to correlations but for `between`."""
    pooled = []
    for place in range(len(COUPLINGS)):
        values, errors = (np.array([each[part][place] for each in models]) for part in (2, 3))
        nothing = Pooled(Estimate(np.nan, np.nan, np.nan), np.nan)
        found = pool(values, errors) if np.isfinite(values + errors).all() else nothing
        pooled.append(found._replace(mean=found.mean.map(np.tanh)))
    return pooled
