"""Errors and answers of a downstream task with planted rates."""

import numpy as np
import xarray as xr

from attnlimit.questions.downstream.fit import summary
from attnlimit.questions.downstream.grouped import resample

SIZES = np.array([32, 90, 256, 724, 2048])


def planted(articles=20, noise=0.2, rate=0.5, fall=0.0, bend=0.0, spread=0.0, seed=0) -> xr.Dataset:
    """Two blocks of each article, two draws: errors 2 n^-b, b = rate - fall (H - 2) + noise of a text, H from 1 to 3.

    bend: beyond the middle size the rate is so much larger. Three of four answers are right, half agree.
    """
    stream, texts = np.random.default_rng(seed), 2 * articles
    horizon = stream.permutation(np.linspace(1, 3, texts))
    rates = rate - fall * (horizon - 2) + spread * stream.normal(size=texts)
    log_error = np.log(2) - rates[:, None, None] * np.log(SIZES) + noise * stream.normal(size=(texts, 2, len(SIZES)))
    log_error -= bend * np.log(np.maximum(SIZES / SIZES[2], 1))
    right = np.broadcast_to((np.arange(texts) % 4 > 0)[:, None, None], log_error.shape)
    agrees = np.broadcast_to((np.arange(texts) % 2 > 0)[:, None, None], log_error.shape)
    each, own = ("text", "replicate", "n"), ("text", "layer", "head")
    couplings = {
        name: (own, horizon[:, None, None] * np.array([[1, 0.5], [0.7, 0.2]]))
        for name in ("horizon", "horizon_frobenius", "constant_tilt")
    }
    return xr.Dataset(
        {"embedding_error": (each, np.exp(log_error)), "right": (each, right), "agrees": (each, agrees)}
        | {
            "dense_right": ("text", np.ones(texts, bool)),
            "cluster": ("text", np.arange(texts) // 2),
            "chance": 0.1,
            "unrelated_distance": 1.3,
        }
        | couplings,
        coords={"n": SIZES, "text": range(texts)},
    )


def downstream_fit(**changes) -> xr.Dataset:
    """What fit_downstream makes of planted errors."""
    errors = planted(**changes)
    resampled = resample(errors["cluster"].values, 400, np.random.default_rng(1))
    facts = {"groups": resampled.groups, "replicates": 2, "task": "retrieval", "replacement": True}
    return summary(errors, resampled).assign_attrs(facts | {"model": {"name": "owner/a-model"}})
