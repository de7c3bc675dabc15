"""95 % intervals hold the truth in 95 % of simulated experiments, from 12 replicates to 100.

The errors are norms of means of n increments in d dimensions, nested (size n has the first n increments) or with a
sample for each size; expected errors are exact, so that the slope that the fit estimates is known.
"""

import numpy as np
import pytest
from scipy.special import gammaln, hyp1f1

from attnlimit.stats.complexity import SHARES, token_complexity, tokens_needed
from attnlimit.stats.power_law import Bootstrap, bias_and_fluctuation, error_curve, fit, fit_curve, local_slopes

SIZES = np.array([64, 93, 136, 199, 290, 424, 618, 903, 1318, 1923, 2807, 4096])
DRAWS, PIECE, PIECES = 400, 250, 3  # experiments of each law, in pieces for memory
SHAPE = 0.05  # of the gamma clock: at n = 64 the variance of a sum has itself a relative spread of 1/sqrt(3.2)
BIAS = 6  # over n, in units of the error at n = 1: at n = 64 the bias is 3/4 of the fluctuation


def normal(rng, shape, dimension, steps):
    return np.sqrt(steps)[:, None].astype(np.float32) * rng.standard_normal((*shape, dimension), np.float32)


def heavy(rng, shape, dimension, steps):
    """Sums of increments with heavy tails: normal, on the random clock of a gamma process."""
    clock = rng.gamma(np.broadcast_to(SHAPE * steps, shape)) / SHAPE
    return np.sqrt(clock)[..., None] * rng.standard_normal((*shape, dimension), np.float32)


def differences(law, rng, shape, dimension, nested, bias=0.0):
    """Means of n increments, and a bias / n in one direction: (experiment, replicate, n, coordinate)."""
    steps = np.diff(SIZES, prepend=0) if nested else SIZES
    sums = law(rng, (*shape, len(SIZES)), dimension, steps)
    means = (sums.cumsum(2) if nested else sums) / SIZES[:, None].astype(sums.dtype)
    means[..., 0] += bias * np.sqrt(dimension) / SIZES
    return means


def expected(law, dimension, bias=0.0):
    """E||mean|| and E||mean||^2 at each size: a chi law, on a random clock (heavy), or not central (bias)."""
    chi = np.sqrt(2) * np.exp(gammaln((dimension + 1) / 2) - gammaln(dimension / 2))
    shift2 = bias**2 * dimension / SIZES  # squared bias over the variance of a coordinate
    clock = (
        np.exp(gammaln(SHAPE * SIZES + 0.5) - gammaln(SHAPE * SIZES)) / np.sqrt(SHAPE * SIZES) if law is heavy else 1
    )
    mean = chi * hyp1f1(-0.5, dimension / 2, -shift2 / 2) * clock / np.sqrt(SIZES)
    return mean, (dimension + shift2) / SIZES


LAWS = ((normal, 1, 0.0), (heavy, 5, 0.0), (normal, 32, BIAS))  # law, dimension, bias; the last is no power law


def norms(vectors) -> np.ndarray:
    return np.sqrt(np.einsum("...f,...f->...", vectors, vectors).astype(float))


def holds(low, truth, high) -> np.ndarray:
    return (low <= truth) & (truth <= high)


def coverage(replicates, nested) -> tuple[float, float]:
    """How often the intervals of beta and of the local slopes hold the truth, over all LAWS together."""
    of_beta, of_slopes = [], []
    for number, (law, dimension, bias) in enumerate(LAWS):
        rng = np.random.default_rng([replicates, nested, number])
        mean, square = expected(law, dimension, bias)
        beta, slopes = fit(SIZES, mean, square / mean**2 - 1)["beta"], local_slopes(SIZES, mean)
        for _ in range(PIECES):
            errors = norms(differences(law, rng, (PIECE, replicates), dimension, nested, bias))
            found = fit_curve(SIZES, error_curve(errors, Bootstrap(DRAWS, nested, rng)))
            of_beta.append(holds(found["beta_low"], beta, found["beta_high"]))
            of_slopes.append(holds(found["local_slope_low"], slopes, found["local_slope_high"]))
    return float(np.mean(of_beta)), float(np.mean(of_slopes))


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("replicates", [12, 24, 40, 100])
def test_intervals_of_slopes_hold_the_truth(replicates, nested):
    """Of 2250 experiments 95 % have a standard error of 0.5 %; the laws differ in tails, dimension and shape."""
    of_beta, of_slopes = coverage(replicates, nested)
    print(f"{replicates} replicates, nested {nested}: beta {of_beta:.1%}, local slopes {of_slopes:.1%}")
    assert 0.935 < of_beta < 0.965
    assert 0.935 < of_slopes < 0.965


def test_intervals_of_bias_and_fluctuation_hold_the_truth():
    """10 groups of 10 replicates; the bias falls like 1/n, the fluctuation like n^-1/2."""
    rng = np.random.default_rng(1)
    of_bias, of_fluctuation = [], []
    for _ in range(2 * PIECES):
        drawn = differences(normal, rng, (PIECE // 2, 100), 5, True, 2 * BIAS).astype(float)
        groups = drawn.reshape(PIECE // 2, 10, 10, len(SIZES), 5).mean(2)
        gram = np.einsum("ugnf,uhnf->ungh", groups, groups)
        curves = bias_and_fluctuation(norms(drawn), gram, Bootstrap(DRAWS, True, rng))[:2]
        bias, fluctuation = (fit_curve(SIZES, curve) for curve in curves)
        of_bias.append(holds(bias["beta_low"], 1, bias["beta_high"]))
        of_fluctuation.append(holds(fluctuation["beta_low"], 0.5, fluctuation["beta_high"]))
    print(f"10 groups: bias {np.mean(of_bias):.1%}, fluctuation {np.mean(of_fluctuation):.1%}")
    assert 0.93 < np.mean(of_bias) < 0.97
    assert 0.93 < np.mean(of_fluctuation) < 0.97


@pytest.mark.parametrize("replicates", [24, 100])
def test_intervals_of_token_counts_hold_the_truth(replicates):
    """Scales under which the expected error is 10, 5 and 1 % at sizes inside the measured range, and beyond it."""
    rng = np.random.default_rng(replicates)
    mean, _ = expected(heavy, 5)
    scale = mean[4] / SHARES[0]  # the error is 10 % at n = 290, 5 % near 1200, 1 % beyond the largest
    truth = tokens_needed(SIZES, np.broadcast_to(mean, (3, len(SIZES))), np.array(SHARES) * scale)
    assert truth[0] == pytest.approx(290) and 903 < truth[1] < 1923 and SIZES[-1] < truth[2] < 10 * SIZES[-1]
    held = []
    for _ in range(2 * PIECES):
        errors = norms(differences(heavy, rng, (PIECE, replicates), 5, True))
        found = token_complexity(SIZES, error_curve(errors, Bootstrap(DRAWS, True, rng)), np.full(PIECE, scale))
        held.append(holds(found["tokens_needed_low"], truth[:, None], found["tokens_needed_high"]))
    shares = np.concatenate(held, axis=1).mean(1)
    print(f"{replicates} replicates: n(10 %) {shares[0]:.1%}, n(5 %) {shares[1]:.1%}, n(1 %) {shares[2]:.1%}")
    assert ((shares[:2] > 0.93) & (shares[:2] < 0.97)).all()
    assert shares[2] > 0.93  # extrapolated: an interval without an upper end holds more
