"""Both 95 % intervals of a comparison hold the truth, at the sizes of the default set: 6 layers on 5 texts, 12 on 2.

*These heads*: the truth is that of the heads at hand.  *Layers like these*: it is the mean over many sets of
layers.  Bounds allow for the Monte Carlo error of so few experiments;
`PYTHONPATH=scripts:tests python tests/long/test_studies_coverage.py` makes ten times as many.
"""

import numpy as np
import pytest

from attnlimit.questions.studies.measures import (
    agreement,
    components,
    effective_heads,
    mean_agreement,
    mean_order,
    order,
    shares,
)
from attnlimit.questions.studies.values import DRAWS, SPLITS, Values, drawing

EXPERIMENTS, MANY, HEADS, REPLICATES = 30, 500, 12, 60
SAMPLING = 3  # place of the share that has no interval of these heads
SIZES = {"six": (6, 5), "twelve": (12, 2)}  # layers, texts
WORLDS = {  # standard deviations: alike heads with much noise; layers that differ; texts that differ
    "noisy": {"heads": 0.3, "of_layers": 0.0, "moved": 0.1, "shifts": 0.0, "noise": 0.15},
    "layers": {"heads": 0.2, "of_layers": 0.4, "moved": 0.15, "shifts": 0.0, "noise": 0.03},
    "texts": {"heads": 0.4, "of_layers": 0.2, "moved": 0.2, "shifts": 0.3, "noise": 0.03},
}


def truth_of(world, layers, texts, rng):
    """ln errors (text, head), and a coupling that orders them in part."""
    own = world["of_layers"] * rng.standard_normal((layers, 1)) + world["heads"] * rng.standard_normal((layers, HEADS))
    shift = world["shifts"] * np.linspace(-1, 1, texts)[:, None, None]
    true = own + shift + world["moved"] * rng.standard_normal((texts, layers, HEADS))
    coupling = own + world["heads"] * rng.standard_normal((layers, HEADS))
    return true.reshape(texts, -1), np.broadcast_to(coupling.ravel(), (texts, layers * HEADS))


def seen(world, true, rng):
    """Of replicates, whose noise heads of a layer share by .3; world["noise"]: standard error of their mean."""
    texts, heads = true.shape
    common = rng.standard_normal((REPLICATES, texts, heads // HEADS, 1))
    noise = np.sqrt(0.3) * common + np.sqrt(0.7) * rng.standard_normal((*common.shape[:3], HEADS))
    each = true + world["noise"] * np.sqrt(REPLICATES) * noise.reshape(REPLICATES, *true.shape)
    drawn = np.tensordot(drawing(REPLICATES, rng), each, 1)
    halves = drawn[DRAWS:].reshape(SPLITS, 2, *true.shape)
    layer = np.repeat(np.arange(heads // HEADS), HEADS)
    return Values(np.arange(heads), layer, each.mean(0), drawn[:DRAWS], halves, REPLICATES)


def exact(world, true, coupling):
    """What is asked, of the truth: agreement; shares and margin, of a total with sampling; order."""
    parts = shares(true, 0.0, np.repeat(np.arange(true.shape[1] // HEADS), HEADS))
    total = true.var(0, ddof=1).mean() / (1 - parts[0])  # all but heads vary within a head
    sizes = np.append(parts[:3] * total, world["noise"] ** 2)
    known = sizes / sizes.sum()
    return np.array([mean_agreement(true), *known[:3], known @ [1, -1, -1, 0], mean_order(true, coupling)])


def intervals(values, coupling):
    """(number, end): these heads, and layers like these."""
    kept, parts, by = agreement(values)[0], components(values), order(values, coupling)
    found = [np.array([kept[end], *np.delete(parts[end], SAMPLING), by[end]]) for end in range(1, 5)]
    return np.stack(found[:2], -1), np.stack(found[2:], -1)


def coverage(world, layers, texts, experiments):
    """Shares of experiments whose intervals hold the truth: these heads, layers like these; (2, number)."""
    other = np.random.default_rng(999)
    of_many = np.mean([exact(world, *truth_of(world, layers, texts, other)) for _ in range(MANY)], 0)
    kept = []
    for seed in range(experiments):
        rng = np.random.default_rng(seed)
        true, coupling = truth_of(world, layers, texts, rng)
        truths = exact(world, true, coupling), of_many
        both = intervals(seen(world, true, rng), coupling)
        kept.append([(ends[:, 0] <= at) & (at <= ends[:, 1]) for ends, at in zip(both, truths, strict=True)])
    return np.mean(kept, 0)


def heads_coverage(layers, correlation, experiments):
    """Of independent heads: squares of sums of squares of normals; heads correlate by sqrt(correlation)."""
    rng, root, kept = np.random.default_rng(layers), np.sqrt(correlation), []
    for _ in range(experiments):
        common, alone = (rng.standard_normal((layers, each, REPLICATES, 12)) for each in (1, HEADS))
        squares = ((np.sqrt(root) * common + np.sqrt(1 - root) * alone) ** 2).sum(-1)
        found, truth = effective_heads(squares), HEADS / (1 + (HEADS - 1) * correlation)
        kept.append([found.low <= truth <= found.high, found.layers_low <= truth <= found.layers_high])
    return np.mean(kept, 0)


@pytest.mark.parametrize("size", SIZES)
def test_agreement_shares_and_order(size):
    """Over all WORLDS."""
    heads, layers = np.mean([coverage(world, *SIZES[size], EXPERIMENTS) for world in WORLDS.values()], 0)
    print(f"{size}: these heads {heads}, layers like these {layers}")
    assert heads.min() > 0.84 and layers.min() > 0.84  # of 90 experiments each: 3 standard errors below .91
    assert 0.91 < heads.mean() < 1 and 0.91 < layers.mean() < 1


@pytest.mark.parametrize("correlation", [0, 0.3, 0.6])
def test_effective_heads(correlation):
    covered = heads_coverage(6, correlation, 150)
    print(f"correlation {correlation}: {covered}")
    assert covered.min() > 0.88


if __name__ == "__main__":
    for count, shape in SIZES.items():
        for name, effects in WORLDS.items():
            print(count, name, coverage(effects, *shape, 10 * EXPERIMENTS).round(3).tolist(), flush=True)
        for alike in (0, 0.3, 0.6):
            print(count, "heads", alike, heads_coverage(shape[0], alike, 500), flush=True)
