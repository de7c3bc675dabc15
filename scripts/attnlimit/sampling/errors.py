"""Distances to the limit, per head and last for the whole layer; of no heads (`heads` 0), for the whole alone."""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np
from scipy.sparse.linalg import ArpackError, eigsh

from attnlimit.base.coordinates import STATISTICS
from attnlimit.theory.moments import Moments

DENSE_UP_TO = 128
ROUNDING = 1e-9  # relative, of a spectral norm by Lanczos


def replicate_errors(
    replicates: Iterable[Iterable[Moments]],
    limit_mean: np.ndarray,
    limit_covariance: np.ndarray,
    heads: int,
    group: int,
) -> dict[str, np.ndarray]:
    """Errors of every replicate at every size, and what their bias needs.

    replicates yields, for each replicate, its moments at each size.  Returns error (statistic, head + 1, replicate, n)
    as in `distances`, and the mean difference to the limit over each `group` replicates: mean_difference (group, n,
    feature) and cov_difference (group, n, feature, feature), the latter rounded to float32, far below its noise.
    """
    errors, group_means = [], []
    mean_sum = cov_sum = np.zeros(())
    for done, replicate in enumerate(replicates, 1):
        differences = [(sample.mean - limit_mean, sample.covariance - limit_covariance) for sample in replicate]
        errors.append([distances(mean, covariance, heads) for mean, covariance in differences])
        mean_sum = mean_sum + np.stack([mean for mean, _ in differences])  # (n, feature)
        cov_sum = cov_sum + np.stack([covariance for _, covariance in differences])  # (n, feature, feature)
        if done % group == 0:
            group_means.append((mean_sum / group, (cov_sum / group).astype(np.float32)))
            mean_sum = cov_sum = np.zeros(())
    norms = [[[size[name] for size in row] for row in errors] for name in STATISTICS]  # (statistic, replicate, n, head)
    return {
        "error": np.moveaxis(np.array(norms), -1, 1),
        "mean_difference": np.stack([mean for mean, _ in group_means]),
        "cov_difference": np.stack([covariance for _, covariance in group_means]),
    }


def distances(mean: np.ndarray, covariance: np.ndarray, heads: int) -> dict[str, np.ndarray]:
    """Norms of the differences to the limit, one per head and last the whole layer.

    mean: Euclidean norm of mean_n - mean_limit (feature,);  cov, cov_spectral: Frobenius and spectral norm of
    cov_n - cov_limit (feature, feature).  A head is a run of features and a diagonal block.
    """
    units = units_of(len(mean), heads)
    *of_heads, whole = (covariance[unit, unit] for unit in units)
    spectral = spectral_norm(np.stack(of_heads)) if of_heads else np.empty(0)
    return {
        "mean": np.array([np.linalg.norm(mean[unit]) for unit in units]),
        "cov": np.array([np.linalg.norm(block) for block in (*of_heads, whole)]),
        "cov_spectral": np.append(spectral, spectral_norm(whole)),
    }


def units_of(features: int, heads: int) -> list[slice]:
    """The features of each head and, last, of the whole layer."""
    return [*(slice(head * features // heads, (head + 1) * features // heads) for head in range(heads)), slice(None)]


def spectral_norm(symmetric: np.ndarray) -> np.ndarray:
    """Largest |eigenvalue| of symmetric matrices (…, feature, feature): dense for small ones, Lanczos for one large.

    Lanczos never leaves an invariant subspace that holds its start. No column is longer than the spectral norm: where
    it finds less than the longest one, the large matrix is done densely, too.
    """
    if not np.isfinite(symmetric).all():  # LAPACK would not converge, ARPACK not end
        raise ValueError("covariance: holds NaN or infinite values, and has no spectral norm; see what it comes from")
    if symmetric.shape[-1] > DENSE_UP_TO and symmetric.ndim == 2:
        start = np.ones(symmetric.shape[-1])  # a fixed start: Lanczos would otherwise draw one at random
        with suppress(ArpackError):  # raised where the matrix maps its start to 0
            found = np.abs(eigsh(symmetric, k=1, which="LM", v0=start, return_eigenvectors=False))[0]
            if found >= np.linalg.norm(symmetric, axis=0).max() * (1 - ROUNDING):
                return found
    return np.abs(np.linalg.eigvalsh(symmetric)).max(-1)


def group_gram(differences: np.ndarray, heads: int) -> np.ndarray:
    """Inner products of group means of difference vectors or matrices, per head and last the whole layer.

    differences (group, n, feature[, feature]) -> (head + 1, n, group, group).  From these alone follow the bias
    ||mean over replicates||, and its bootstrap over groups, without keeping every replicate's matrix.
    """
    matrices = differences.ndim == 4
    grams = []
    for unit in units_of(differences.shape[2], heads):
        block = differences[:, :, unit, unit] if matrices else differences[:, :, unit]
        flat = block.reshape(*block.shape[:2], -1).swapaxes(0, 1).astype(np.float64)  # (n, group, entry)
        grams.append(flat @ flat.swapaxes(1, 2))  # (n, group, group)
    return np.stack(grams)


def limit_scale(value_variance: np.ndarray, covariance: np.ndarray, heads: int) -> np.ndarray:
    """What an error is relative to, (statistic, head + 1): per head and last the whole layer.

    mean: sqrt(tr V Sigma V^T), by which the value of a single token misses its mean (a limit mean may be zero);
    cov, cov_spectral: norm of the limit covariance.  value_variance (head,) is tr V Sigma V^T.
    """
    norms = distances(np.zeros(len(covariance)), covariance, heads)
    norms["mean"] = np.sqrt([*value_variance[:heads], np.sum(value_variance)])
    return np.stack([norms[name] for name in STATISTICS])


def limit_is_exact(replacement: bool, queries: int, population: int) -> bool:
    """Whether attention over the population is the limit of samples from it as n grows, with no error of its own.

    Draws with replacement make them independent, from the law of the population; without, the sample of size N is the
    population itself, and errors shrink by about sqrt(1 - n/N). A limit from some of the queries has a standard error.
    """
    return replacement and queries >= population


def sampling_error(limit: Moments, fourth: np.ndarray, queries: int, population: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors of a limit from some of the queries, per head and last the whole layer; 0 from all of them.

    With C the covariance and M of N queries drawn without replacement: mean sqrt(tr C / M (1 - M/N)), covariance
    (Frobenius) sqrt((E|y - m|^4 - ||C||_F^2) / M (1 - M/N)).  fourth (head + 1,) is the sum of |y - m|^4; summed about
    the means of small blocks it falls short, and E|y - m|^4 >= (tr C)^2 takes its place.
    """
    rest = 1 - queries / population if queries < population else 0.0
    blocks = [limit.covariance[unit, unit] for unit in units_of(len(limit.mean), len(fourth) - 1)]
    mean = np.array([np.trace(block) for block in blocks])
    fourth = np.maximum(fourth / limit.count, mean**2)
    covariance = np.maximum(fourth - [(block**2).sum() for block in blocks], 0)  # 0: rounding may go below
    mean_se, cov_se = (np.sqrt(variance / limit.count * rest) for variance in (mean, covariance))
    return mean_se, cov_se
