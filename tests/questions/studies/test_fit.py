"""Several studies compared: what was planted is found, and what is not there is said so."""

import numpy as np
import pytest

from attnlimit.questions.studies.fit import by_model, compare, needed
from attnlimit.questions.studies.intervals import Twice
from attnlimit.questions.studies.measures import agreement, components, effective_heads, order
from attnlimit.questions.studies.power import FACTOR, HEADS, REACH, planted
from attnlimit.questions.studies.report import answer_rows, studies_answer
from attnlimit.questions.studies.values import Values, drawing, values_of
from attnlimit.stats.order import rank_correlations

ONE = {"a": (6, 3)}  # model: layers, texts


def made(seed=0, models=ONE, **effects):
    return planted(np.random.default_rng(seed), models=models, replicates=24, **effects)


def compared(studies):
    return compare(studies, FACTOR, REACH, np.random.default_rng(1))


def values(truth, noise=0.0, layers=40, replicates=24, seed=0):
    """Of a truth (text, head), seen with normal noise of this standard deviation in each replicate."""
    rng = np.random.default_rng(seed)
    each = truth + noise * rng.standard_normal((replicates, *truth.shape))
    weights = drawing(replicates, rng)
    drawn = np.tensordot(weights, each, 1)
    layer = np.repeat(np.arange(layers), truth.shape[1] // layers)
    halves = drawn[400:].reshape(-1, 2, *truth.shape)
    return Values(np.arange(len(layer)), layer, each.mean(0), drawn[:400], halves, replicates)


def test_the_second_interval_of_a_mean_is_students_over_layers():
    numbers = np.array([0.3, 0.1, 0.7, 0.4, 0.2])
    left = np.array([np.delete(numbers, each).mean() for each in range(5)])
    found = Twice.of(numbers.mean(), 0.0, 10, left)
    assert found.layers_high - found.value == pytest.approx(2.7764451 * numbers.std(ddof=1) / np.sqrt(5))
    assert found.low == found.high == found.value, "exact: no replicate enters"
    assert np.isnan(Twice.of(1.0, 0.1, 10, left[:2]).layers_low)


def test_draws_are_means_of_replicates_and_halves_are_halves():
    weights = drawing(9, np.random.default_rng(0))
    assert weights.sum(1) == pytest.approx(1)
    first, second = weights[400:402]
    assert (first > 0).sum() == (second > 0).sum() == 4 and not (first * second).any()


def test_texts_that_agree_but_for_noise_are_found_to():
    """Seen, they correlate by 1/2; corrected for noise, by 1."""
    truth = np.broadcast_to(np.random.default_rng(0).standard_normal(480), (3, 480))
    noisy = values(truth, noise=np.sqrt(24))
    found, reliability = agreement(noisy)
    assert rank_correlations(noisy.seen[0], noisy.seen[1]) == pytest.approx(0.48, abs=0.08)
    assert reliability == pytest.approx(0.48, abs=0.06) and found.value == pytest.approx(1, abs=0.1)
    assert found.low < 1 < found.high
    exact, reliability = agreement(values(truth))
    assert reliability == 1 and exact.low == exact.value == exact.high == 1


def test_components_add_up_and_find_what_was_planted():
    rng = np.random.default_rng(0)
    heads, texts = 0.4 * rng.standard_normal(2400), 0.3 * np.linspace(-1, 1, 5)[:, None]
    found = components(values(heads + texts + 0.2 * rng.standard_normal((5, 2400)), 0.1 * np.sqrt(24), 200))
    wanted = np.array([0.4**2, texts.var(ddof=1), 0.2**2, 0.1**2])
    assert found.value[:4] == pytest.approx(wanted / wanted.sum(), abs=0.02)
    assert found.value[:4].sum() == pytest.approx(1)
    assert found.value[4] == pytest.approx(found.value @ [1, -1, -1, 0, 0])


def test_noise_alone_belongs_to_sampling():
    found = components(values(np.zeros((4, 1200)), 0.1, 100))
    assert found.value[:4] == pytest.approx([0, 0, 0, 1], abs=0.06)


def test_a_coupling_that_orders_all_heads_does():
    truth = np.random.default_rng(0).standard_normal((2, 72))
    assert np.tanh(order(values(truth, layers=6), np.exp(truth)).value) == pytest.approx(1)
    assert np.tanh(order(values(truth, layers=6), -truth).high) == pytest.approx(-1)


def test_models_needed_grow_with_the_spread_of_models():
    data = compared(made(models={"a": (6, 1), "b": (6, 1)}))["order"]
    apart = [needed(data.where(data["model"] == "a", data * 0 + shift), 0.25) for shift in (0.5, 1)]
    assert (apart[0] < apart[1]).sum() > 0
    two = data.copy(
        data=np.broadcast_to(np.array([0, 0.17]).reshape([2 if d == "model" else 1 for d in data.dims]), data.shape)
    )
    assert (needed(two, 0.25) == 4).all(), "t(3) 0.12 / sqrt(4) = 0.19, and 0.30 with three"
    assert np.isnan(needed(data.isel(model=[0]), 0.25)).all()


def squares(heads=12, replicates=400, correlation=0.0, seed=0):
    """Of errors (1, head, replicate) with squares that correlate by so much."""
    rng, root = np.random.default_rng(seed), np.sqrt(correlation)
    common, alone = rng.standard_normal((1, replicates, 12)), rng.standard_normal((heads, replicates, 12))
    return ((np.sqrt(root) * common + np.sqrt(1 - root) * alone) ** 2).sum(-1)[None]


def test_equal_heads_are_worth_one():
    one = squares(heads=1, replicates=30)
    found = effective_heads(np.concatenate([one, 3 * one, 7 * one], axis=1))  # whatever their size
    assert [found.value, found.low, found.high] == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("correlation", [0, 0.3, 0.8])
def test_heads_that_correlate_are_worth_fewer(correlation):
    found = effective_heads(squares(correlation=correlation))
    assert found.value == pytest.approx(12 / (1 + 11 * correlation), rel=0.2) and np.isnan(found.layers_low)


def test_layers_together_are_surer():
    layers = np.concatenate([squares(replicates=40, correlation=0.3, seed=seed) for seed in range(6)])
    many, few = effective_heads(layers), effective_heads(layers[:1])
    assert np.log(many.high / many.low) < 0.6 * np.log(few.high / few.low) and many.layers_low < many.value


def test_what_is_compared_is_the_error_at_the_largest_n_and_five_per_cent():
    studies = list(made(heads=0.1, moved=0.0, shifts=0.0).values())
    found = values_of(studies, np.random.default_rng(0))
    error = studies[1]["error"].sel(statistic="cov").isel(n=-1).mean("replicate").values.ravel()
    assert found["error_cov"].seen[1] == pytest.approx(np.log(error))
    assert np.exp(found["tokens_mean"].seen) == pytest.approx(
        2048 * (np.exp(found["error_mean"].seen) / 0.05) ** 2, rel=0.6
    )
    assert found["horizon"].noise.max() < 1e-25 and found["error_mean"].noise.min() > 0


def test_heads_that_are_not_known_on_all_texts_count_in_none():
    studies = made()
    last = studies["a-2"]
    studies["a-2"] = last.assign(limit_uncertain=last["limit_uncertain"] | (last["head"] == 3))
    data = compared(studies)
    assert data["heads_compared"].sel(quantity="error_mean").item() == 66
    far = {name: study.assign(error=50 * study["error"]) for name, study in made().items()}
    assert "tokens_mean" not in compared(far)["quantity"].values, "n(5 %) is beyond reach"


def test_models_are_told_apart_by_name_and_weights():
    one, other = made(models={"a": (2, 1)}), made(models={"b": (2, 1)})
    again = {"again": one["a-0"].assign_attrs(model={"name": "x/a", "sha256": {"w": "c" * 64}})}
    assert by_model(one | other) == {"a": ["a-0"], "b": ["b-0"]}
    assert by_model(one | again) == {"a a": ["a-0"], "a cccccccc": ["again"]}


def test_models_of_other_depth_are_compared():
    data = compared(made(models={"a": (6, 2), "b": (8, 1)}))
    assert data["study"].values.tolist() == ["a-0", "a-1", "b-0"] and data["model"].values.tolist() == ["a", "b"]
    assert all(array.dtype.kind in "bfi" for array in data.data_vars.values())  # none became objects
    assert np.isfinite(data["agreement"].sel(model="a")).all() and np.isnan(data["agreement"].sel(model="b")).all()
    assert np.isfinite(data["models_needed"].sel(quantity="error_mean")).all()
    rows = list(answer_rows(data))
    assert len({row[0] for row in rows}) == 7 and all(len(row) == 5 for row in rows)
    lines = studies_answer(data, 0.5)
    assert "keep the order of their errors" in lines["errors"] and "would need about" in lines["models"]
    assert "do not keep" in studies_answer(data, 0.9999)["errors"]


def test_one_study_alone_is_shown_and_answers_nothing_between_texts():
    data = compared(made(models={"a": (1, 1)}))
    assert "agreement" not in data and np.isnan(data["models_needed"]).all()
    assert "undecided" in studies_answer(data, 0.5)["errors"] and list(answer_rows(data))


def test_texts_of_a_model_must_have_the_same_sizes():
    studies = made()
    studies["a-1"] = studies["a-1"].isel(n=[0, 1])
    with pytest.raises(ValueError, match="a-0 and a-1 are of one model but differ in measure_errors.sizes; run"):
        compared(studies)


def test_the_same_studies_give_the_same_numbers():
    assert compared(made()).identical(compared(made())) and HEADS == 12
