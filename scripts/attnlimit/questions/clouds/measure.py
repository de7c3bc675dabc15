"""Outputs of one head, token by token: what convergence looks like.

The same tokens are the queries throughout.  N tokens are drawn once, uniformly; at size n they are cut into N / n
samples, and each token attends to the n tokens of its own sample; in the limit, to the whole population.  So every
cloud has as many points, of the same queries, and two clouds differ by the keys alone.
"""

import numpy as np
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits
from torch import Tensor

from attnlimit.attention.kernel import Projected, Segment, absorb

ITERATIONS = 500  # of t-SNE: half its usual number, enough for so few points
Head = tuple[int, int]  # layer, head


def chosen_heads(wanted: str | list, horizons: dict[Head, float]) -> list[Head]:
    """The heads of a list; `extremes`: those with the smallest and the largest H, the earlier one of equals."""
    if isinstance(wanted, str):
        by_horizon = sorted(horizons, key=lambda head: (horizons[head], head))
        return list(dict.fromkeys((by_horizon[0], by_horizon[-1])))
    chosen = [(int(layer), int(head)) for layer, head in wanted]
    if unknown := [head for head in chosen if head not in horizons]:
        layer, head = unknown[0]
        raise ValueError(f"config: measure_clouds.heads: the model has no layer {layer} with a head {head}")
    return chosen


def outputs_at(tokens: Projected, size: int) -> np.ndarray:
    """Outputs (token, width) of one head, each token attending to its own sample of so many: runs of the draw."""
    parts = [part[0].unflatten(0, (-1, size)) for part in tokens]  # (sample, token, width): samples as if heads
    queries, keys, values = (part.contiguous() for part in parts)
    return as_rows(absorb(None, queries, Segment(keys, values)).output)


def as_rows(output: Tensor) -> np.ndarray:
    return output.flatten(0, 1).double().cpu().numpy()


def in_leading_plane(clouds: np.ndarray) -> np.ndarray:
    """Clouds (cloud, token, width) along the two leading directions of the last one, the limit, with its mean at 0.

    Signs are arbitrary: each direction has its entry of largest absolute value positive.
    """
    limit = clouds[-1]
    _, vectors = np.linalg.eigh(np.cov(limit, rowvar=False, ddof=0))
    leading = vectors[:, ::-1][:, :2]  # (width, 2)
    signs = np.sign(leading[np.abs(leading).argmax(0), range(leading.shape[1])])
    return (clouds - limit.mean(0)) @ (leading * signs)


def tsne_map(clouds: np.ndarray, perplexity: float, seed: int) -> np.ndarray:
    """One t-SNE map (cloud, token, 2) of all clouds (cloud, token, width) together, as a publication's overlay has it.

    Only which points are near each other means something in it: neither distances nor densities do.
    """
    flat = clouds.reshape(-1, clouds.shape[-1])
    method = TSNE(perplexity=perplexity, init="pca", random_state=seed % 2**32, max_iter=ITERATIONS)
    with threadpool_limits(1):  # sums of several threads would come in another order each time
        return method.fit_transform(flat.astype(np.float32)).reshape(*clouds.shape[:2], 2)
