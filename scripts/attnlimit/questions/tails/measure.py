"""Tails of the tokens along chosen directions: how far a population is from sub-Gaussian with its own covariance.

Along a direction t a token is u = <t, X - m> / sqrt(t' Sigma t), of mean 0 and variance 1. With
R(s) = log E exp(s u) / (s^2 / 2), a Gaussian has R = 1, and R <= c for all s and t means that the tokens are
sub-Gaussian with c Sigma as variance proxy.
"""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import with_whole_layer
from attnlimit.theory.geometry import square_root

FLAT = 1e-12  # a variance this small, relative to the largest one of the family, is rounding


class Tails(NamedTuple):
    """Sums over tokens of standardised projections u, mergeable; logs, so that no exponential overflows."""

    count: float  # type: ignore[assignment]  # hides tuple.count, which nobody asks of them
    fourth: np.ndarray  # (direction,): sum of u^4
    log_sum: np.ndarray  # (direction, scale): log sum of exp(s u)
    log_squares: np.ndarray  # (direction, scale): log sum of exp(2 s u)

    @property
    def kurtosis(self) -> np.ndarray:
        """Excess kurtosis E u^4 - 3, (direction,)."""
        return self.fourth / self.count - 3

    @property
    def effective_tokens(self) -> np.ndarray:
        """Kish's (sum e^{su})^2 / sum e^{2su}, (direction, scale): how many tokens carry the mean of e^{su}."""
        return np.exp(2 * self.log_sum - self.log_squares)

    def log_mgf_ratio(self, scales: np.ndarray) -> np.ndarray:
        """R(s) = log E exp(s u) / (s^2 / 2), (direction, scale)."""
        return (self.log_sum - np.log(self.count)) / (scales**2 / 2)


def tails(projections: np.ndarray, scales: np.ndarray) -> Tails:
    """Sums over one block of standardised projections (token, direction), at signed scales."""
    logs = []
    for scale in scales:  # one at a time: a block of exponentials is enough memory
        exponents = scale * projections
        largest = exponents.max(0)  # (direction,)
        weights = np.exp(exponents - largest)
        logs.append((largest + np.log(weights.sum(0)), 2 * largest + np.log((weights**2).sum(0))))
    log_sum, log_squares = np.array(logs).transpose(1, 2, 0)  # (direction, scale) each
    return Tails(float(len(projections)), (projections**4).sum(0), log_sum, log_squares)


def merge(one: Tails, other: Tails) -> Tails:
    """Sums over the union of two sets of tokens."""
    logs = (np.logaddexp(*pair) for pair in zip(one[2:], other[2:], strict=True))
    return Tails(one.count + other.count, one.fourth + other.fourth, *logs)


def merge_all(parts: Iterable[Tails]) -> Tails:
    """Merge in the order given: the same blocks in the same order give the same bits."""
    return reduce(merge, parts)


def both_signs(scales: list[float]) -> np.ndarray:
    """The scales and their negatives, increasing."""
    return np.sort(np.concatenate([np.negative(scales), scales]).astype(np.float64))


def leading_eigenvectors(covariance: np.ndarray, count: int) -> np.ndarray:
    """Directions (direction, feature) of largest variance, largest first."""
    _, vectors = np.linalg.eigh(covariance)
    return oriented(vectors.T[::-1][:count])


def tilt_directions(covariance: np.ndarray, tilt: np.ndarray, count: int) -> np.ndarray:
    """Directions (direction, feature) along which a head tilts most: t_k = A S v_k, S A S = sum_k sigma_k w_k v_k'.

    Var <t_k, X> = |S A S v_k|^2 = sigma_k^2, so sigma_1 is the horizon H.  A query that lies z standard deviations out
    along mode k weighs its keys by exp(s u) with s = sigma_k z.
    """
    root = square_root(covariance)
    _, _, modes = np.linalg.svd(root @ tilt @ root)  # rows v_k
    return oriented(modes[:count] @ root @ tilt.T)


def oriented(directions: np.ndarray) -> np.ndarray:
    """Each with its largest entry positive: which of the two signs a decomposition gives is up to the machine."""
    largest = np.take_along_axis(directions, np.abs(directions).argmax(-1)[:, None], -1)
    return directions * np.sign(largest)


def variances(covariance: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """t' Sigma t of directions (…, direction, feature); refuses those along which no token moves."""
    along = ((directions @ covariance) * directions).sum(-1)  # (…, direction)
    moving = along > FLAT * along.max(-1, keepdims=True)
    if not moving.all():
        fewest = moving.sum(-1).min()
        raise ValueError(f"config: measure_tails.directions: the tokens vary along {fewest} only; ask for fewer")
    return along


def sub_gaussian_constant(ratio: np.ndarray, effective: np.ndarray, enough: float) -> np.ndarray:
    """Largest R(s) over directions and those scales that `enough` tokens carry: (…, direction, scale) -> (…).

    NaN if no mean is carried by that many.  A heavy tail leaves few such scales, so this is a lower estimate.
    """
    credible = np.where(effective >= enough, ratio, -np.inf).max((-1, -2))
    return np.where(np.isfinite(credible), credible, np.nan)


def participation_ratio(eigenvalues: np.ndarray) -> float:
    """Effective rank (tr Sigma)^2 / tr Sigma^2, between 1 and the number of features."""
    return float(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())


class Directions(NamedTuple):
    """The leading directions of each head and, last, of the tokens' covariance."""

    variance: np.ndarray  # (head + 1, direction): of the tokens along each
    standardised: np.ndarray  # ((head + 1) * direction, feature): u = <row, X - m> has variance 1

    @classmethod
    def leading(cls, covariance: np.ndarray, tilts: np.ndarray, count: int) -> "Directions":
        """Of heads with tilt matrices (head, feature, feature)."""
        of_heads = [tilt_directions(covariance, tilt, count) for tilt in tilts]
        directions = np.stack([*of_heads, leading_eigenvectors(covariance, count)])  # (head + 1, direction, feature)
        variance = variances(covariance, directions)
        return cls(variance, (directions / np.sqrt(variance)[..., None]).reshape(-1, covariance.shape[0]))


def tails_of_tokens(
    blocks: Iterable[np.ndarray],
    mean: np.ndarray,
    covariance: np.ndarray,
    tilts: np.ndarray,
    count: int,
    scales: list[float],
    enough: float,
) -> xr.Dataset:
    """Spectrum and tails of the tokens of a layer, which come in blocks (token, feature).

    Along `count` directions of each head and, as those of the whole layer, of the covariance; a mean of exponentials
    counts if `enough` tokens carry it.
    """
    directions, signed = Directions.leading(covariance, tilts, count), both_signs(scales)
    sums = merge_all(tails((block - mean) @ directions.standardised.T, signed) for block in blocks)
    shape = (*directions.variance.shape, len(signed))
    ratio, effective = sums.log_mgf_ratio(signed).reshape(shape), sums.effective_tokens.reshape(shape)
    eigenvalues = np.linalg.eigvalsh(covariance)[::-1].clip(0)
    place = ("head", "direction", "scale")
    return xr.Dataset(
        {
            "eigenvalues": ("feature", eigenvalues),
            "participation_ratio": participation_ratio(eigenvalues),
            "variance": (place[:2], directions.variance),
            "kurtosis": (place[:2], sums.kurtosis.reshape(shape[:-1])),
            "log_mgf_ratio": (place, ratio),
            "effective_tokens": (place, effective),
            "sub_gaussian": ("head", sub_gaussian_constant(ratio, effective, enough)),
        },
        coords={"head": with_whole_layer(len(tilts)), "direction": range(count), "scale": signed},
    )
