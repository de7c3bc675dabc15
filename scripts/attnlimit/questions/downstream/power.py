"""Could the claim on embeddings have failed?  Planted errors of texts at the sizes of the default run."""

import numpy as np
import xarray as xr

from attnlimit.questions.downstream.fit import summary
from attnlimit.questions.downstream.grouped import resample
from attnlimit.stats.planted import DRAWS, default_config

NOISE = 0.2  # of the log error of a text and draw
SLOWER = 0.4


def planted(articles=20, noise=NOISE, rate=0.5, bend=0.0, stream=None, sizes=(32, 90, 256, 724, 2048)) -> xr.Dataset:
    """Two blocks of each article, two draws: errors 2 n^-rate with noise, of embeddings and logits alike.

    bend: beyond the middle size the rate is so much larger. Three of four answers are right, half agree.
    """
    stream, texts, n = stream or np.random.default_rng(0), 2 * articles, np.array(sizes)
    log_error = np.log(2) - rate * np.log(n) + noise * stream.normal(size=(texts, 2, len(n)))
    log_error -= bend * np.log(np.maximum(n / n[len(n) // 2], 1))
    right, agrees = (
        np.broadcast_to((np.arange(texts) % every > 0)[:, None, None], log_error.shape) for every in (4, 2)
    )
    each = ("text", "replicate", "n")
    return xr.Dataset(
        {"embedding_error": (each, np.exp(log_error)), "right": (each, right), "agrees": (each, agrees)}
        | {"logit_error": (each, np.exp(log_error)), "divergence": (each, np.exp(2 * log_error) / 8)}
        | {
            "dense_right": ("text", np.ones(texts, bool)),
            "cluster": ("text", np.arange(texts) // 2),
            "chance": 0.1,
            "unrelated_distance": 1.3,
        },
        coords={"n": n, "text": range(texts)},
    )


def fitted(errors: xr.Dataset, stream: np.random.Generator) -> xr.Dataset:
    """What fit_downstream makes of them."""
    resampled = resample(errors["cluster"].values, DRAWS, stream)
    facts = {"groups": resampled.groups, "replicates": 2, "task": "retrieval", "replacement": True}
    return summary(errors, resampled).assign_attrs(facts | {"model": {"name": "owner/a-model"}})


def downstream_rate(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    section = default_config()["measure_downstream"]
    articles = section["texts"] // section["per_article"]
    errors = planted(articles, rate=0.5 if truth else SLOWER, stream=stream, sizes=tuple(section["sizes"]))
    return {"downstream": fitted(errors, stream)}


POWER = {"downstream_rate": (f"the error falls like n^−{SLOWER}", downstream_rate)}
