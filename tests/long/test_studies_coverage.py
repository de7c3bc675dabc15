"""95 % intervals of a comparison hold the truth, at the sizes of studies: 6 or 12 layers of 12 heads, up to 5 texts.

Layers are drawn anew in each experiment, texts keep their shifts.  Bounds allow for the Monte Carlo error of so few
experiments; `PYTHONPATH=scripts:tests python tests/long/test_studies_coverage.py` makes ten times as many.
"""

import numpy as np
import pandas as pd
import pytest

from attnlimit.questions.studies.agreement import level_agreement, order_agreement, pairs_of
from attnlimit.questions.studies.components import variance_components
from attnlimit.questions.studies.layers import fisher
from attnlimit.questions.studies.orders import COUPLINGS, order_of_model
from attnlimit.questions.studies.pooling import pool
from attnlimit.questions.studies.shared_noise import effective_heads
from attnlimit.stats.order import rank_correlations
from support.studies import HEADS, planted

EXPERIMENTS = 100
MANY = 4000  # layers: what is found of so many is taken for the truth
WORLDS = {  # standard deviations: alike heads with much noise; layers that differ; texts that differ
    "noisy": {"heads": 0.03, "of_layers": 0.0, "moved": 0.01, "noise": 0.02},
    "layers": {"heads": 0.02, "of_layers": 0.04, "moved": 0.015, "moved_layers": 0.01, "noise": 0.01},
    "texts": {"heads": 0.04, "of_layers": 0.02, "moved": 0.02, "moved_layers": 0.01, "noise": 0.01, "shifts": 0.03},
}


def flat(rates):
    return rates.reshape(len(rates), -1)


def layer_of(layers):
    return np.repeat(np.arange(layers), HEADS)


def held(estimate, truth) -> np.ndarray:
    low, high = estimate[1:3]
    return (low <= truth) & (truth <= high)


def agreement_coverage(world, layers, experiments):
    """Of the rank correlation as seen, of that corrected for noise, and of mean differences."""
    true, seen = (rank_correlations(*flat(rates)) for rates in planted(MANY, 2, **world)[:2])
    shift = world.get("shifts", 0) * np.linspace(-1, 1, 5)
    shifts = np.array([shift[j] - shift[i] for i, j in pairs_of(5)])
    kept = []
    for seed in range(experiments):
        _, beta, halves = planted(layers, 5, seed=seed, **world)
        found = order_agreement(flat(beta), layer_of(layers), halves.reshape(*halves.shape[:3], -1))
        level, _ = level_agreement(flat(beta), layer_of(layers))
        kept.append([held(found.overall, seen), held(found.corrected, true), held(level, shifts).mean()])
    return np.mean(np.array(kept, float), 0)


def share_coverage(world, layers, experiments):
    """Of the shares of head, text, head x text, sampling, and of the margin of heads."""
    heads, spread = layers * HEADS, world.get("shifts", 0) * np.linspace(-1, 1, 5)
    between = world["heads"] ** 2 + world["of_layers"] ** 2 * (heads - HEADS) / (heads - 1)
    parts = np.array(
        [between, spread.var(ddof=1), world["moved"] ** 2 + world.get("moved_layers", 0) ** 2, world["noise"] ** 2]
    )
    truth = np.append(parts, parts @ [1, -1, -1, 0]) / parts.sum()
    kept = []
    for seed in range(experiments):
        beta = flat(planted(layers, 5, seed=seed, **world)[1])
        known = np.full(beta.shape, world["noise"] ** 2)
        kept.append(held(variance_components(beta, known, layer_of(layers))[1], truth))
    return np.mean(kept, 0)


def order_coverage(world, layers, experiments):
    """Of the rank correlation of beta with H, with s0, and of the partial ones; mean over two texts."""

    def tables(layers, seed):
        rng = np.random.default_rng(10_000 + seed)
        horizon, tilt = (np.exp(rng.uniform(-1, 1, layers * HEADS)) for _ in range(2))
        tilt = tilt * horizon**0.5
        marks = {"misfit": False, "saturated": False, "limit_uncertain": False}
        columns = {"layer": layer_of(layers), "horizon": horizon, "constant_tilt": tilt}
        beta = planted(layers, 2, seed=seed, **world)[1]
        bent = -0.02 * np.log(horizon) - 0.02 * np.log(tilt)
        return [pd.DataFrame(columns | {"beta": bent + one.ravel()}).assign(**marks) for one in beta]

    many = [{name: fits[name].to_numpy() for name in fits} for fits in tables(MANY, 999)]
    truth = np.tanh(fisher(np.array([[of(fits) for of in COUPLINGS.values()] for fits in many])).mean(0))
    kept = [held(order_of_model(tables(layers, seed), 0.1).model, truth) for seed in range(experiments)]
    return np.mean(kept, 0)


def pooled_coverage(models, between, experiments):
    rng = np.random.default_rng(models)
    kept = []
    for _ in range(experiments):
        errors = rng.uniform(0.1, 0.3, models)
        found, _ = pool(-0.3 + between * rng.standard_normal(models) + errors * rng.standard_normal(models), errors)
        kept.append(found.low <= -0.3 <= found.high)
    return np.mean(kept)


def heads_coverage(replicates, correlation, dimension, experiments):
    """Errors whose squares are sums of squares of normals; heads correlate by sqrt(correlation), squares by it."""
    rng = np.random.default_rng(replicates)
    kept, root = [], np.sqrt(correlation)
    for _ in range(experiments):
        common = rng.standard_normal((1, replicates, 1, dimension))
        alone = rng.standard_normal((HEADS, replicates, 1, dimension))
        squares = ((np.sqrt(root) * common + np.sqrt(1 - root) * alone) ** 2).sum(-1)
        kept.append(held(effective_heads([squares]), HEADS / (1 + (HEADS - 1) * correlation)))
    return np.mean(kept)


@pytest.mark.parametrize("layers", [6, 12])
def test_agreement_between_texts(layers):
    """As seen, corrected for noise, and in level, over all WORLDS."""
    shares = np.mean([agreement_coverage(world, layers, EXPERIMENTS) for world in WORLDS.values()], 0)
    print(f"{layers} layers: {shares}")
    assert ((shares > 0.90) & (shares < 0.985)).all()


@pytest.mark.parametrize("layers", [6, 12])
def test_shares_of_variance(layers):
    """Of texts without a shift the share is 0, where an interval may be too wide."""
    shares = np.mean([share_coverage(world, layers, EXPERIMENTS) for world in WORLDS.values()], 0)
    print(f"{layers} layers: {shares}")
    assert shares.min() > 0.90 and shares[[0, 2, 3, 4]].max() < 0.985


def test_orders_of_a_model():
    shares = order_coverage(WORLDS["layers"], 6, EXPERIMENTS)
    print(f"6 layers: {shares}")
    assert shares.min() > 0.89 and 0.92 < shares.mean() < 0.985


@pytest.mark.parametrize("models", [2, 3, 5])
@pytest.mark.parametrize("between", [0, 0.3])
def test_pooled_over_models(models, between):
    assert pooled_coverage(models, between, 2000) > 0.93


@pytest.mark.parametrize("correlation", [0, 0.2, 0.6])
@pytest.mark.parametrize("replicates", [24, 40])
def test_effective_heads(replicates, correlation):
    covered = heads_coverage(replicates, correlation, 12, 150)
    print(f"{replicates} replicates, correlation {correlation}: {covered:.1%}")
    assert 0.88 < covered <= 1


if __name__ == "__main__":
    for count in (6, 12):
        for name, effects in WORLDS.items():
            print(count, name, "agreement", agreement_coverage(effects, count, 10 * EXPERIMENTS), flush=True)
            print(count, name, "shares", share_coverage(effects, count, 10 * EXPERIMENTS), flush=True)
            print(count, name, "orders", order_coverage(effects, count, 4 * EXPERIMENTS), flush=True)
    for sample in (24, 40, 100):
        for alike in (0, 0.2, 0.6):
            print(
                sample, alike, "heads", [heads_coverage(sample, alike, many, 1000) for many in (4, 12, 30)], flush=True
            )
