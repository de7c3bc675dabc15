"""From embeddings or scores to answers, the article or the class of a text: are they right, and as without draws?

Article: that of the nearest other text by cosine. The text that is asked about has drawn keys, the candidates none: an
index is built once, with all the attention there is. Class: of a linear probe fitted to the dense
embeddings of training texts, or the largest score of the model's own head.

Every answer is the largest of some logits (…, class), which are compared, too: of a head its scores, of a probe its
own, of an article SCALE times the largest cosine to one of its texts, the text that is asked about left out.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from attnlimit.sampling.joining import join_parts

# Declared, never tuned: what embedding benchmarks use by default, with steps enough to converge.
PROBE = {"C": 1.0, "solver": "lbfgs", "max_iter": 1000}
SCALE = 20.0  # of cosines as logits: that of the contrastive loss that sentence encoders are trained with


class Answered(NamedTuple):
    """What a task answers, article or class (…), and the logits (…, class) whose largest it is."""

    answer: np.ndarray
    logits: np.ndarray


def joined(parts: list[xr.Dataset]) -> xr.Dataset:
    """What the jobs measured, texts in order: how they were cut changes no bit."""
    own = join_parts([part.drop_dims("training_text", errors="ignore") for part in parts], "text").sortby("text")
    training = [part[["training_embedding"]] for part in parts if "training_embedding" in part]
    return own.merge(join_parts(training, "training_text").sortby("training_text")) if training else own


def similarity_to_others(embeddings: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Cosines of texts with embeddings (text, …, feature) to candidates (text, feature); of a text to itself -inf."""
    similarity = np.einsum("t...f,cf->t...c", embeddings, candidates)  # (text, …, candidate): all have length 1
    for text in range(len(similarity)):
        similarity[text, ..., text] = -np.inf
    return similarity


def by_nearest(embeddings: np.ndarray, candidates: np.ndarray, label: np.ndarray) -> Answered:
    """Article of the nearest other text: embeddings (text, …, feature), candidates (text, feature) with articles."""
    similarity = similarity_to_others(embeddings, candidates)
    largest = [similarity[..., label == article].max(-1) for article in np.unique(label)]
    return Answered(label[similarity.argmax(-1)], SCALE * np.stack(largest, -1))


def by_probe(training: np.ndarray, labels: np.ndarray, embeddings: np.ndarray) -> Answered:
    """Classes of embeddings (…, feature) by a logistic regression on training ones (text, feature) with labels.

    Of two classes the regression has the difference z of their logits alone: (-z/2, z/2).
    """
    probe = LogisticRegression(**PROBE).fit(training.astype(np.float64), labels)
    logits = probe.decision_function(embeddings.reshape(-1, embeddings.shape[-1]).astype(np.float64))
    if logits.ndim == 1:
        logits = np.stack([-logits / 2, logits / 2], -1)
    shape = embeddings.shape[:-1]
    return Answered(probe.classes_[logits.argmax(-1)].reshape(shape), logits.reshape(*shape, -1))


def by_score(scores: np.ndarray) -> Answered:
    return Answered(scores.argmax(-1), scores)


def compared(drawn: np.ndarray, dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of logits (…, class) and the dense ones (class,): root mean square difference, and KL divergence in nats, (…).

    sqrt(mean_c (l_c - l'_c)^2) with the mean over classes taken off each, as a softmax does not see a common shift;
    KL(p || q) = sum_c p_c (log p_c - log q_c), p = softmax of the dense ones, q of the drawn.
    """
    shift = drawn.astype(np.float64) - dense
    error = shift.std(-1)  # about the mean over classes
    log_q, log_p = log_softmax(drawn.astype(np.float64), -1), log_softmax(dense.astype(np.float64))
    return error, (np.exp(log_p) * (log_p - log_q)).sum(-1)


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

    embedding_error = |e_n - e|, e_n the embedding with n drawn keys in every layer, e the dense one, both of length 1;
    logit_error, divergence: see `compared`.
    """
    embedding, dense = raw["embedding"].values, raw["dense_embedding"].values  # (text, replicate, n, feature)
    label = texts["label"].sel(text=raw["text"]).values
    match task:
        case "retrieval":
            drawn, whole = (by_nearest(each, dense, label) for each in (embedding, dense))
        case "labels":
            training = raw["training_embedding"].values, texts["label"].sel(text=raw["training_text"]).values
            drawn, whole = (by_probe(*training, each) for each in (embedding, dense))
        case "classifier":
            drawn, whole = (by_score(raw[name].values) for name in ("scores", "dense_scores"))
        case _:
            raise LookupError(f"measure_downstream.task: {task} is not known")
    each, own = ("text", "replicate", "n"), ("text", "layer", "head")
    difference = embedding.astype(np.float64) - dense[:, None, None]
    logits = [compared(*pair) for pair in zip(drawn.logits, whole.logits, strict=True)]  # text by text: little memory
    logit_error, divergence = map(np.stack, zip(*logits, strict=True))
    # Blocks of one article are alike: intervals resample them together.
    cluster = label if task == "retrieval" else np.arange(len(label))
    return xr.Dataset(
        {
            "embedding_error": (each, np.linalg.norm(difference, axis=-1)),
            "logit_error": (each, logit_error),
            "divergence": (each, divergence),
            "answer": (each, drawn.answer),
            "right": (each, drawn.answer == label[:, None, None]),
            "agrees": (each, drawn.answer == whole.answer[:, None, None]),
            "dense_answer": ("text", whole.answer),
            "dense_right": ("text", whole.answer == label),
            "label": ("text", label),
            "cluster": ("text", cluster),
            "chance": ((), chance(task, label)),
            "unrelated_distance": ((), unrelated(dense, label)),
        }
        | {name: (own, raw[name].values) for name in ("horizon", "horizon_frobenius", "constant_tilt")},
        coords={name: raw[name] for name in ("text", "replicate", "n", "layer", "head")},
    )
