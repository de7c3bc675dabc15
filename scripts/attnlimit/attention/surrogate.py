"""A cheap stand-in for attention, so that a limit costs N M pairs of a query and a key instead of N^2.

Y(x), the attention of the query x to all N keys, is computed for M queries drawn without replacement. For all the
others a function g of the query alone stands in, fitted to those M by ridge regression: linear in the features
1, u, u_i u_j, o, w, with u the query in its principal coordinates, o its attention to a few keys and w the weights that
it gives to clusters of keys. Over all N tokens

    E[Y] = E[g] + E[Y - g],   E[Y Y^T] = E[g g^T] + E[Y Y^T - g g^T],

the first term of each from all N queries, the second from the M. That is unbiased whatever g is, as long as no query is
judged by a fit that it took part in: the M are cut into folds, and each is judged by the fit to the others. How good g
is shows in the standard error alone, which is that of the residuals. The marks of the blocks are few and unlike all
other tokens, so they are drawn apart, as a stratum: no fit meets them unprepared.

With g_f the fit that left fold f out, which has a share s_f of the M, and h = sum_f s_f g_f:

    sum_f s_f E[g_f g_f^T] = E[h h^T] + E[sum_f s_f (g_f - h)(g_f - h)^T].

The fits are near each other, so the last term is small: some of the N tokens, drawn at random, are enough for it.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnlimit.attention.kernel import Segment, attend
from attnlimit.attention.regressors import FOLDS
from attnlimit.base.parts import cuts

RIDGES = np.logspace(-9, 4, 27)  # to choose from, relative to the largest eigenvalue; the last leaves the level alone
ROUNDS = 4  # of Lloyd's algorithm: the clusters need not be the best
RAREST = 1e-3  # standard deviation of a cluster's weight over the largest: a rarer one is not blown up
SMALLEST = 1e-4  # a coordinate's standard deviation over the leading one's: smaller ones are rounding, not blown up
ROWS_AT_ONCE = 1024  # of features: more would leave the cache


class Basis(NamedTuple):
    """What the features of a query are made from, for each head."""

    centre: np.ndarray  # (head, width)
    rotation: np.ndarray  # (head, width, coordinate): principal directions, leading first, over standard deviations
    few: Segment  # the keys that o attends to
    output_centre: np.ndarray  # (head, width)
    output_scale: np.ndarray  # (head,)
    clusters: np.ndarray  # (head, cluster, width): mean keys
    log_sizes: np.ndarray  # (head, cluster)
    weight_scale: np.ndarray  # (head, cluster)
    directions: int  # leading coordinates whose products are features


class Surrogate(NamedTuple):
    basis: Basis
    coefficients: Tensor  # (fold, head, feature, width)
    shares: np.ndarray  # (fold,): of the M queries


class Correction(NamedTuple):
    """What the exact outputs add to the moments of g; a unit is each head and, last, the whole layer."""

    reference: np.ndarray  # (feature,): a point near the outputs, about which second moments are taken
    mean: np.ndarray  # (feature,): E[Y - g]
    second: np.ndarray  # (feature, feature): E[(Y - a)(Y - a)^T - (g - a)(g - a)^T], a the reference
    mean_se: np.ndarray  # (unit,)
    covariance_se: np.ndarray  # (unit,): of the Frobenius norm
    residual_share: np.ndarray  # (unit,): variance of Y - g over that of Y


def basis_of(queries: Tensor, few: Segment, directions: int, keys: Tensor, clusters: int) -> Basis:
    """From some queries (head, token, width) and keys of the population: any that were not chosen by the draw."""
    rows = queries.cpu().double().numpy()
    centre = rows.mean(1)  # (head, width)
    centred = rows - centre[:, None]
    values, vectors = np.linalg.eigh(centred.swapaxes(1, 2) @ centred / rows.shape[1])
    values, vectors = values[:, ::-1], vectors[:, :, ::-1]  # leading first
    spread = np.sqrt(np.maximum(values, SMALLEST**2 * values[:, :1]))  # (head, coordinate)
    outputs = attend(queries, few).output.cpu().double().numpy()  # (head, token, width)
    scale = outputs.std(1).max(-1)  # (head,)
    rotation = vectors / positive(spread)[:, None]
    grouped = [clustered(*each, clusters) for each in zip(keys, vectors * spread[:, None], strict=True)]
    means, log_sizes = (np.stack(parts) for parts in zip(*grouped, strict=True))
    weights = cluster_weights(queries, means, log_sizes).std(1, correction=0).cpu().double().numpy()
    rare = np.maximum(weights, RAREST * weights.max(-1, keepdims=True))  # (head, cluster)
    whole = outputs.mean(1), positive(scale)
    return Basis(centre, rotation, few, *whole, means, log_sizes, positive(rare), directions)


def clustered(keys: Tensor, metric: np.ndarray, clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Means (cluster, width) of clusters of keys (key, width), and the logarithms of their sizes (cluster,).

    By Lloyd's algorithm, from keys evenly spread. Keys are near each other if the queries, whose covariance is
    metric metric^T, score them alike. An empty cluster has weight 0.
    """
    own = keys.cpu().double().numpy()
    rows = own @ metric  # (key, coordinate)
    means = rows[np.arange(clusters) * len(rows) // clusters]
    for _ in range(ROUNDS):
        nearest = ((means**2).sum(1) - 2 * rows @ means.T).argmin(1)  # (key,)
        sizes = np.bincount(nearest, minlength=clusters).astype(float)
        mine = nearest == np.arange(clusters)[:, None]  # (cluster, key)
        means = np.where(sizes[:, None] > 0, mine @ rows / positive(sizes)[:, None], means)
    return mine @ own / positive(sizes)[:, None], np.log(np.maximum(sizes, np.finfo(float).tiny))


def cluster_weights(queries: Tensor, means: np.ndarray, log_sizes: np.ndarray) -> Tensor:
    """Softmax of the scores that queries (head, token, width) give to mean keys, each for all of its cluster."""
    keys, logs = (torch.as_tensor(part).to(queries) for part in (means, log_sizes))
    return (queries @ keys.mT + logs[:, None]).softmax(-1)  # (head, token, cluster)


def positive(scales: np.ndarray) -> np.ndarray:
    """1 in place of 0, so that a feature without variance is left as it is."""
    return np.where(scales > 0, scales, 1)


def linear_features(queries: Tensor, basis: Basis) -> Tensor:
    """(u, o, w) of queries (head, token, width): coordinates, attention to a few keys, weights of clusters, scaled."""
    centre, rotation, output_centre, scale, weight_scale = (
        torch.as_tensor(part).to(queries)
        for part in (basis.centre, basis.rotation, basis.output_centre, basis.output_scale, basis.weight_scale)
    )
    coordinates = (queries - centre[:, None]) @ rotation
    outputs = (attend(queries, basis.few).output - output_centre[:, None]) / scale[:, None, None]
    weights = cluster_weights(queries, basis.clusters, basis.log_sizes) / weight_scale[:, None]
    return torch.cat([coordinates, outputs, weights], dim=-1)  # (head, token, 2 width + cluster)


def all_features(linear: Tensor, directions: int) -> Tensor:
    """(1, u, o, w, u_i u_j for i <= j of the leading directions) of one head: (token, linear) -> (token, feature)."""
    start = 1 + linear.shape[1]
    features = linear.new_ones(len(linear), start + directions * (directions + 1) // 2)
    features[:, 1:start] = linear
    for one in range(directions):  # slices, not a list of pairs: three times as fast
        stop = start + directions - one
        torch.mul(linear[:, one : one + 1], linear[:, one:directions], out=features[:, start:stop])
        start = stop
    return features


def fit_surrogate(queries: Tensor, outputs: Tensor, fold: np.ndarray, basis: Basis) -> Surrogate:
    """One fit for each fold, to the queries (head, query, width) outside of it and their outputs."""
    by_head = []
    for linear, exact in zip(linear_features(queries, basis), outputs, strict=True):
        features = all_features(linear.cpu().double(), basis.directions).numpy()  # (query, feature)
        targets = exact.cpu().double().numpy()  # (query, width)
        by_head.append([ridge(features[fold != judged], targets[fold != judged]) for judged in range(FOLDS)])
    coefficients = torch.as_tensor(np.array(by_head)).swapaxes(0, 1).contiguous()  # (fold, head, feature, width)
    return Surrogate(basis, coefficients.to(queries), np.bincount(fold, minlength=FOLDS) / len(fold))


def ridge(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """B (feature, width) that minimises |targets - features B|^2 + ridge |B|^2; the constant feature is not penalised.

    The ridge minimises generalised cross-validation, RSS / (1 - degrees of freedom / rows)^2.
    """
    shift, level = features[:, 1:].mean(0), targets.mean(0)
    centred, wanted = features[:, 1:] - shift, targets - level
    values, vectors = np.linalg.eigh(centred.T @ centred)  # (feature,), (feature, feature)
    values = np.maximum(values, 0)
    projected = vectors.T @ (centred.T @ wanted)  # (feature, width)
    power, total = (projected**2).sum(1), (wanted**2).sum()
    ridges = RIDGES * max(values[-1], np.finfo(float).tiny)
    scores = []
    for weight in ridges:
        kept = 1 / (values + weight)
        left = total - (power * kept * (2 - values * kept)).sum()
        freedom = 1 - (1 + (values * kept).sum()) / len(features)
        scores.append(left / freedom**2 if freedom > 0 else np.inf)
    best = vectors @ (projected / (values + ridges[int(np.argmin(scores))])[:, None])
    return np.concatenate([(level - shift @ best)[None], best])


def predict(surrogate: Surrogate, queries: Tensor) -> Tensor:
    """g of the queries (head, token, width) by each fit: (fold, head, token, width)."""
    basis, width = surrogate.basis, queries.shape[-1]
    linear = linear_features(queries, basis)
    side_by_side = torch.cat(list(surrogate.coefficients), dim=-1)  # (head, feature, fold * width)
    predicted = queries.new_empty(*queries.shape[:2], side_by_side.shape[-1])
    for head, coefficients in enumerate(side_by_side):
        for rows in cuts(queries.shape[1], ROWS_AT_ONCE):
            torch.mm(all_features(linear[head, rows], basis.directions), coefficients, out=predicted[head, rows])
    return torch.stack(predicted.split(width, dim=-1))


def averaged(surrogate: Surrogate) -> Surrogate:
    """h: one fit in place of all, their mean."""
    shares = torch.as_tensor(surrogate.shares).to(surrogate.coefficients)
    mean = torch.einsum("f,fhrw->hrw", shares, surrogate.coefficients)
    return Surrogate(surrogate.basis, mean[None], np.ones(1))


def fit_spread(surrogate: Surrogate, queries: Tensor, counts: Tensor) -> np.ndarray:
    """sum_f s_f (g_f - h)(g_f - h)^T, summed over queries (head, token, width), each counted: (feature, feature)."""
    shares = torch.as_tensor(surrogate.shares).to(queries)
    predicted = predict(surrogate, queries).transpose(1, 2).flatten(2)  # (fold, token, feature)
    apart = predicted - torch.einsum("f,ftd->td", shares, predicted)
    return torch.einsum("f,t,ftd,fte->de", shares, counts.to(queries), apart, apart).double().cpu().numpy()


def correction_of(
    outputs: Tensor, predicted: Tensor, fold: np.ndarray, stratum: np.ndarray, sizes: np.ndarray
) -> Correction:
    """From the exact outputs (head, query, width) of the drawn queries, and what each fit makes of them.

    The population consists of strata of N_s tokens, sizes (stratum,), of which M_s were drawn. For the fit of a fold,
    the tokens of a stratum are the queries outside of the fold, whose residuals are all known, and the rest, of which
    the M_sf queries of the fold are a random sample: their residuals count (N_s - M_s + M_sf) / M_sf times.
    """
    heads, queries = outputs.shape[:2]
    exact = rows_of(outputs)  # (query, feature)
    reference = exact.mean(0)
    exact = exact - reference  # not in place: the rows may be those of the outputs
    drawn = np.bincount(stratum, minlength=len(sizes))
    mean, second = np.zeros_like(reference), np.zeros((len(reference), len(reference)))
    judged_by_others = np.empty_like(exact)
    for judged, guessed in enumerate(predicted):
        guess, inside = rows_of(guessed) - reference, fold == judged
        of_fold = np.bincount(stratum[inside], minlength=len(sizes))
        weights = np.where(inside, ((sizes - drawn + of_fold) / of_fold)[stratum], 1.0)
        weights *= inside.sum() / queries / sizes.sum()
        mean += weights @ (exact - guess)
        second += (exact.T * weights) @ exact - (guess.T * weights) @ guess
        judged_by_others[inside] = guess[inside]
    errors, left = np.zeros((2, heads + 1)), np.zeros(heads + 1)
    for number, (size, count) in enumerate(zip(sizes, drawn, strict=True)):
        mine = stratum == number
        variances = residual_variances(exact[mine], judged_by_others[mine], fold[mine], heads)  # (2, unit)
        errors += (size / sizes.sum()) ** 2 * (1 - count / size) / count * variances
        left += size / sizes.sum() * variances[0]
    share = (sizes / sizes.sum() / drawn)[stratum]  # of the population that a query stands for
    whole = (share @ (exact - share @ exact) ** 2).reshape(heads, -1).sum(1)  # (head,): variance of the outputs
    mean_se, covariance_se = np.sqrt(errors)
    residual_share = left / positive(np.append(whole, whole.sum()))
    return Correction(reference, mean, second, mean_se, covariance_se, residual_share)


def residual_variances(exact: np.ndarray, guess: np.ndarray, fold: np.ndarray, heads: int) -> np.ndarray:
    """Variances over queries, within their folds: of y - g, and of y y^T - g g^T (Frobenius): (2, unit).

    |y y^T - g g^T|^2 = |y|^4 + |g|^4 - 2 <y, g>^2.
    """
    width = exact.shape[1] // heads
    units = [*(slice(head * width, (head + 1) * width) for head in range(heads)), slice(None)]
    totals = np.zeros((2, len(units)))
    for judged in np.unique(fold):
        inside = fold == judged
        for number, unit in enumerate(units):
            y, g = exact[inside, unit], guess[inside, unit]
            products = (y.T @ y - g.T @ g) / len(y)
            squares = (y**2).sum(1) ** 2 + (g**2).sum(1) ** 2 - 2 * (y * g).sum(1) ** 2  # (query,)
            variances = (y - g).var(0).sum(), squares.mean() - (products**2).sum()
            totals[:, number] += len(y) ** 2 / (len(y) - 1) * np.array(variances)
    return np.maximum(totals, 0) / len(exact)


def rows_of(outputs: Tensor) -> np.ndarray:
    """(head, query, width) -> (query, feature), heads side by side, in float64."""
    return outputs.transpose(0, 1).flatten(1).double().cpu().numpy()
