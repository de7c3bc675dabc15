"""The streamed limit is the dense formula, whatever the block and the number of blocks held at once."""

import numpy as np
import pytest

from attnlimit.attention import streaming
from attnlimit.attention.kernel import output_shift
from attnlimit.attention.streaming import Atoms, Pass, limit_blocks
from attnlimit.base.parts import cuts
from attnlimit.theory.moments import merge_all
from support import dense


@pytest.mark.parametrize("block", [7, 25, 100])
@pytest.mark.parametrize("held", [1, 3])
def test_blocks_and_groups_change_nothing(monkeypatch, block, held):
    monkeypatch.setattr(streaming, "BLOCKS_AT_ONCE", held)
    rng = np.random.default_rng(0)
    heads, tokens, counts = dense.random_heads(rng), rng.normal(size=(60, 6)), rng.integers(1, 4, size=60)
    atoms, centre = Atoms(lambda cut: tokens[cut], counts), tokens.mean(0)
    plan = Pass(heads, centre, block, "cpu", "float64")
    parts = list(limit_blocks(atoms, atoms, cuts(60, block), plan))
    found = merge_all(moments for moments, _ in parts)
    mean, covariance = dense.moments(np.repeat(tokens, counts, axis=0), heads)
    np.testing.assert_allclose(found.mean + output_shift(heads, centre), mean, rtol=1e-11)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-9, atol=1e-12)


def test_some_queries_attend_to_all_keys():
    rng = np.random.default_rng(1)
    heads, tokens, chosen = dense.random_heads(rng), rng.normal(size=(60, 6)), np.array([3, 10, 59])
    keys, queries = Atoms(lambda cut: tokens[cut], np.ones(60)), Atoms(lambda cut: tokens[chosen[cut]], np.ones(3))
    plan = Pass(heads, np.zeros(6), 16, "cpu", "float64")
    ((found, fourth),) = limit_blocks(queries, keys, cuts(3, 16), plan)
    rows = dense.outputs(tokens[chosen], tokens, heads)
    np.testing.assert_allclose(found.mean + output_shift(heads, np.zeros(6)), rows.mean(0), rtol=1e-11)
    np.testing.assert_allclose(fourth[-1], (((rows - rows.mean(0)) ** 2).sum(1) ** 2).sum(), rtol=1e-9)
