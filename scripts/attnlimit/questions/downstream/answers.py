"""From embeddings or scores to answers, the article or the class of a text: are they right, and as without draws?

Article: that of the nearest other text by cosine. The text that is asked about has drawn keys, the candidates none: an
index is built once, with all the attention there is. Class: of a linear probe fitted to the dense
embeddings of training texts, or the largest score of the model's own head.
"""

import numpy as np
import xarray as xr
from sklearn.linear_model import LogisticRegression

from attnlimit.sampling.joining import join_parts

# Declared, never tuned: what embedding benchmarks use by default, with steps enough to converge.
PROBE = {"C": 1.0, "solver": "lbfgs", "max_iter": 1000}


def joined(parts: list[xr.Dataset]) -> xr.Dataset:
    """What the jobs measured, texts in order: how they were cut changes no bit."""
    own = join_parts([part.drop_dims("training_text", errors="ignore") for part in parts], "text").sortby("text")
    training = [part[["training_embedding"]] for part in parts if "training_embedding" in part]
    return own.merge(join_parts(training, "training_text").sortby("training_text")) if training else own


def nearest_other(embeddings: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """For text i with embeddings (text, …, feature): the candidate (text, feature) but i with the largest cosine."""
    similarity = np.einsum("t...f,cf->t...c", embeddings, candidates)  # (text, …, candidate): all have length 1
    for text in range(len(similarity)):
        similarity[text, ..., text] = -np.inf
    return similarity.argmax(-1)


def probe_classes(training: np.ndarray, labels: np.ndarray, embeddings: np.ndarray) -> np.ndarray:
    """Classes of embeddings (…, feature) by a logistic regression on training ones (text, feature) with labels."""
    probe = LogisticRegression(**PROBE).fit(training.astype(np.float64), labels)
    flat = embeddings.reshape(-1, embeddings.shape[-1]).astype(np.float64)
    return probe.predict(flat).reshape(embeddings.shape[:-1])


def chance(task: str, label: np.ndarray) -> float:
    """Accuracy without reading: of another text taken at random, or of the commonest class as the only answer."""
    _, place, count = np.unique(label, return_inverse=True, return_counts=True)
    if task == "retrieval":
        return float((count[place] - 1).mean() / (len(label) - 1))
    return float(count.max() / len(label))


def unrelated(dense: np.ndarray, label: np.ndarray) -> float:
    """Root mean square distance of dense embeddings (text, feature) of texts with other labels.

    An error as large leaves nothing of a text.
    """
    squares = 2 - 2 * dense.astype(np.float64) @ dense.T.astype(np.float64)  # (text, text): all have length 1
    return float(np.sqrt(squares[label[:, None] != label].mean()))


def answers(task: str, raw: xr.Dataset, texts: xr.Dataset) -> xr.Dataset:
    """Errors and answers of every text, replicate and size, from what the jobs measured, texts in order.

    embedding_error = |e_n - e|, e_n the embedding with n drawn keys in every layer, e the dense one, both of length 1.
    """
    embedding, dense = raw["embedding"].values, raw["dense_embedding"].values  # (text, replicate, n, feature)
    label = texts["label"].sel(text=raw["text"]).values
    match task:
        case "retrieval":
            drawn, whole = (label[nearest_other(each, dense)] for each in (embedding, dense))
        case "labels":
            training = raw["training_embedding"].values, texts["label"].sel(text=raw["training_text"]).values
            drawn, whole = (probe_classes(*training, each) for each in (embedding, dense))
        case "classifier":
            drawn, whole = raw["scores"].values.argmax(-1), raw["dense_scores"].values.argmax(-1)
        case _:
            raise LookupError(f"measure_downstream.task: {task} is not known")
    each, own = ("text", "replicate", "n"), ("text", "layer", "head")
    difference = embedding.astype(np.float64) - dense[:, None, None]
    # Blocks of one article are alike: intervals resample them together.
    cluster = label if task == "retrieval" else np.arange(len(label))
    return xr.Dataset(
        {
            "embedding_error": (each, np.linalg.norm(difference, axis=-1)),
            "answer": (each, drawn),
            "right": (each, drawn == label[:, None, None]),
            "agrees": (each, drawn == whole[:, None, None]),
            "dense_answer": ("text", whole),
            "dense_right": ("text", whole == label),
            "label": ("text", label),
            "cluster": ("text", cluster),
            "chance": ((), chance(task, label)),
            "unrelated_distance": ((), unrelated(dense, label)),
        }
        | {name: (own, raw[name].values) for name in ("horizon", "horizon_frobenius", "constant_tilt")},
        coords={name: raw[name] for name in ("text", "replicate", "n", "layer", "head")},
    )
