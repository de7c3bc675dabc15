"""Noise that heads share: independent heads count as many as they are, equal ones as one."""

import numpy as np
import pytest

from attnlimit.questions.studies.shared_noise import effective_heads, mean_correlation, own_share

RNG = np.random.default_rng(1)


def squares(heads=12, replicates=4000, correlation=0.0, dimension=20):
    root = np.sqrt(correlation)
    common = RNG.standard_normal((1, replicates, 1, dimension))
    alone = RNG.standard_normal((heads, replicates, 1, dimension))
    return ((np.sqrt(root) * common + np.sqrt(1 - root) * alone) ** 2).sum(-1)  # (head, replicate, 1)


def test_equal_heads_are_worth_one():
    one = squares(heads=1, replicates=30)
    found = effective_heads([np.concatenate([one, 3 * one, 7 * one])])  # whatever their size
    assert found.value == pytest.approx([1]) and found.low == pytest.approx([1]) and found.high == pytest.approx([1])


@pytest.mark.parametrize("correlation", [0, 0.3, 0.8])
def test_heads_that_correlate_are_worth_fewer(correlation):
    drawn = squares(correlation=correlation)
    assert mean_correlation(drawn) == pytest.approx([correlation], abs=0.03)
    assert effective_heads([drawn]).value == pytest.approx([12 / (1 + 11 * correlation)], rel=0.1)


def test_layers_together_are_between_them_and_surer():
    apart, alike = squares(replicates=40), squares(replicates=40, correlation=0.8)
    one, other, both = effective_heads([apart]), effective_heads([alike]), effective_heads([apart, alike])
    assert other.value < both.value < one.value
    many = effective_heads([squares(replicates=40, correlation=0.3) for _ in range(6)])
    few = effective_heads([squares(replicates=40, correlation=0.3)])
    assert np.log(many.high / many.low) < 0.6 * np.log(few.high / few.low)


def test_the_squared_error_of_a_mean_is_the_sum_over_its_heads():
    drawn = squares(replicates=10)
    assert own_share(drawn, drawn.sum(0)) == pytest.approx([1])
    assert own_share(drawn, 2 * drawn.sum(0)) == pytest.approx([0.5])


def test_one_head_has_no_correlation():
    assert np.isnan(mean_correlation(squares(heads=1, replicates=10))).all()
