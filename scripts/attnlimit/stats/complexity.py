"""The token-sample complexity n(eps): how many tokens until the error is eps of its scale."""

import numpy as np

from attnlimit.stats.estimate import ENDS
from attnlimit.stats.power_law import Curve, interval, late_slope

SHARES = (0.10, 0.05, 0.01)  # eps
TOKENS = tuple(f"tokens_needed{end}" for end in (*ENDS, "_extrapolated"))
BEYOND = 10  # a curve is followed beyond its largest n by this factor, and no further


def tokens_needed(sizes: np.ndarray, value: np.ndarray, level: np.ndarray) -> np.ndarray:
    """n from which on a curve (…, n) is at or below a level (…).

    Between measured sizes log(value) is linear in log(n); of several crossings, which are noise, the last one counts.
    The value shows its kind:
    the smallest size: at most that many;  above the largest size: extrapolated with the late slope;
    infinite: more than ten times the largest size, or the curve does not fall;  NaN: the curve or the level is unknown.
    """
    log_size, last = np.log(sizes), len(sizes) - 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        height = np.log(value) - np.log(level)[..., None]  # (…, n)
        above = height > 0
        left = np.where(above.any(-1), last - above[..., ::-1].argmax(-1), 0)  # the last size above the level
        right = np.minimum(left + 1, last)
        start, end = (np.take_along_axis(height, place[..., None], -1)[..., 0] for place in (left, right))
        inside = np.exp(log_size[left] + (log_size[right] - log_size[left]) * start / (start - end))
        steps = height[..., -1] / late_slope(sizes, value)  # of log(n), from the largest size
    beyond = np.where((steps > 0) & (steps <= np.log(BEYOND)), sizes[-1] * np.exp(np.clip(steps, 0, 3)), np.inf)
    tokens = np.where(above[..., -1], beyond, np.where(above.any(-1), inside, float(sizes[0])))
    return np.where(np.isnan(height).any(-1), np.nan, tokens)


def token_complexity(sizes: np.ndarray, curve: Curve, scale: np.ndarray) -> dict[str, np.ndarray]:
    """n(eps) of the curve of an error (unit, n) relative to its scale (unit), for eps in SHARES: TOKENS, (eps, unit).

    tokens_needed_low, tokens_needed_high: 95 % bootstrap interval, from the draws and at the levels of the rates.  Two
    neighbouring sizes decide where a curve crosses, so two samples enter if the sizes have their own.
    """
    level = np.array(SHARES)[:, None] * scale  # (eps, unit)
    tokens = tokens_needed(sizes, np.broadcast_to(curve.value, (*level.shape, len(sizes))), level)
    resampled = curve.resampled[:, None]  # (draw, 1, unit, n)
    shape = (len(resampled), *level.shape)
    drawn = tokens_needed(sizes, np.broadcast_to(resampled, (*shape, len(sizes))), np.broadcast_to(level, shape))
    extrapolated = (tokens > sizes[-1]) & np.isfinite(tokens)
    return dict(zip(TOKENS, (*interval(tokens, drawn, curve.levels(2)), extrapolated), strict=True))
