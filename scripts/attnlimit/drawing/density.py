"""Clouds of points as densities, and the contours that hold a given share of them."""

import numpy as np
from scipy.ndimage import gaussian_filter

BINS = 160  # a side
MARGIN = 0.1  # of a window, beyond the points that span it


def window(points: np.ndarray, share: float = 0.98) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ranges of both axes, equally wide, that hold the inner share of points (…, 2) along each, with a margin."""
    low, high = np.quantile(points.reshape(-1, 2), [(1 - share) / 2, (1 + share) / 2], axis=0)
    (x, y), half = (low + high) / 2, (0.5 + MARGIN) * (high - low).max()
    return (x - half, x + half), (y - half, y + half)


def density(points: np.ndarray, ranges: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gaussian kernel density of points (point, 2) on a grid over these ranges: x (column,), y (row,), (row, column).

    The bandwidth is Scott's, n^(-1/6) standard deviations along each axis.  Points are counted in bins first, which
    costs as little as a picture should, and moves each by half a bin at most.
    """
    counts, *edges = np.histogram2d(points[:, 0], points[:, 1], bins=BINS, range=ranges)
    width = np.array([edge[1] - edge[0] for edge in edges])
    smooth = gaussian_filter(counts, points.std(0) * len(points) ** (-1 / 6) / width, mode="constant")
    x, y = ((edge[1:] + edge[:-1]) / 2 for edge in edges)
    return x, y, smooth.T / len(points)


def levels_of(heights: np.ndarray, shares: tuple[float, ...]) -> list[float]:
    """Heights above which these shares of a density lie, lowest first: the edges of its densest regions."""
    ordered = np.sort(heights, axis=None)[::-1]
    held = np.cumsum(ordered)
    return [float(ordered[np.searchsorted(held, share * held[-1])]) for share in sorted(shares, reverse=True)]
