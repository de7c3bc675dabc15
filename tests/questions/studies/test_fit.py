"""Several studies compared: planted agreement, orders and variances are found, and what is not there is said so."""

import numpy as np
import pytest

from attnlimit.questions.studies.agreement import level_agreement, order_agreement
from attnlimit.questions.studies.answer import studies_answer
from attnlimit.questions.studies.components import variance_components
from attnlimit.questions.studies.fit import by_model, compare
from attnlimit.questions.studies.layers import leave_out_layers, student_mean
from attnlimit.questions.studies.pooling import pool
from attnlimit.questions.studies.table import answer_rows, heads_table
from support.studies import HEADS, planted, studies

FACTOR = 2.0


def compared(*models):
    return compare({name: study for model in models for name, study in model.items()}, 0.1, FACTOR)


def test_a_mean_over_layers_left_out_in_turn_has_students_interval():
    numbers = np.array([0.3, 0.1, 0.7, 0.4, 0.2])
    found, se = leave_out_layers(np.arange(5), lambda chosen: numbers[chosen].mean())
    assert se == pytest.approx(numbers.std(ddof=1) / np.sqrt(5))
    assert (found.low, found.high) == pytest.approx([float(end) for end in student_mean(numbers)[1:]])
    _, low, high = student_mean(numbers, tests=10)
    assert low < found.low and found.high < high  # for ten at once


def test_two_layers_have_no_interval():
    found, _ = leave_out_layers(np.arange(2), lambda chosen: chosen.mean())
    assert found.value == 0.5 and np.isnan([found.low, found.high]).all()


def test_texts_that_agree_but_for_noise_are_found_to():
    """beta of a head is the same on all texts: what is seen is lowered by noise, corrected it is 1."""
    _, beta, halves = planted(layers=40, texts=3, heads=0.02, of_layers=0, noise=0.02, seed=3)
    layer = np.repeat(np.arange(40), HEADS)
    found = order_agreement(beta.reshape(3, -1), layer, halves.reshape(3, 1, 2, -1))
    assert found.overall.value == pytest.approx(0.48, abs=0.05)  # Spearman's of a correlation of 1/2
    assert found.reliability.value == pytest.approx(0.48, abs=0.05)
    assert found.corrected.value == pytest.approx(1, abs=0.1)
    exact = order_agreement(beta.reshape(3, -1), layer)
    assert exact.reliability.value == 1 and exact.corrected.value == exact.overall.value == found.overall.value


def test_a_shift_is_that_of_the_second_text():
    _, beta, _ = planted(texts=2, shifts=0.1, noise=0)
    found, at_once = level_agreement(beta.reshape(2, -1), np.repeat(np.arange(6), HEADS))
    assert found.value == pytest.approx([0.2]) and found.low == pytest.approx(at_once.low)


def test_components_add_up_and_find_what_was_planted():
    effects = {"heads": 0.04, "of_layers": 0.0, "shifts": 0.03, "moved": 0.02, "noise": 0.01}
    _, beta, _ = planted(layers=200, texts=5, **effects)
    layer = np.repeat(np.arange(200), HEADS)
    parts, shares = variance_components(beta.reshape(5, -1), np.full((5, len(layer)), 0.01**2), layer)
    wanted = [0.04**2, (0.03 * np.linspace(-1, 1, 5)).var(ddof=1), 0.02**2, 0.01**2]
    assert parts == pytest.approx(wanted, rel=0.07)
    assert shares.value[:4].sum() == pytest.approx(1)
    assert shares.value[4] == pytest.approx(shares.value @ [1, -1, -1, 0, 0])
    # beta of one head over texts varies by all but the heads
    within = beta.reshape(5, -1).var(0, ddof=1).mean()
    assert parts[1:].sum() == pytest.approx(within)


def test_noise_alone_belongs_to_sampling():
    _, beta, _ = planted(layers=100, texts=4, heads=0, of_layers=0, noise=0.02, shared=0.5)
    known = np.full((4, 100 * HEADS), 0.02**2)
    _, shares = variance_components(beta.reshape(4, -1), known, np.repeat(np.arange(100), HEADS))
    assert shares.value[:4] == pytest.approx([0, 0, 0, 1], abs=0.06)


def test_pooled_estimates():
    alike = pool(np.array([0.2, 0.2, 0.2]), np.array([0.1, 0.1, 0.1]))
    assert alike.mean.value == pytest.approx(0.2) and alike.between == 0
    assert alike.mean.high - 0.2 == pytest.approx(4.302653 * 0.1 / np.sqrt(3))  # 2 degrees; q has a floor
    apart = pool(np.array([-1.0, 0.0, 1.0]), np.full(3, 1e-6))
    assert apart.between == pytest.approx(1, rel=1e-4) and apart.mean.value == pytest.approx(0, abs=1e-9)
    two = pool(np.array([-0.3, -0.3]), np.array([0.1, 0.1]))
    assert two.mean.low < 0 < two.mean.high  # 12.7 standard errors: two say little
    assert np.isnan(pool(np.array([0.5]), np.array([0.1])).mean.low)


def test_models_are_told_apart_by_name_and_weights():
    one, other = studies(texts=1, name="a"), studies(texts=1, name="b")
    same_name = {"again": studies(texts=1, name="a", digest="c" * 64)["a-0"]}
    assert by_model(one | other) == {"a": ["a-0"], "b": ["b-0"]}
    assert by_model(one | same_name) == {"a aaaaaaaa": ["a-0"], "a cccccccc": ["again"]}


def test_models_of_other_depth_are_compared_and_the_table_holds_their_heads():
    data = compared(studies(texts=2, layers=6, name="a"), studies(texts=1, layers=8, name="b", seed=5))
    assert data["study"].values.tolist() == ["a-0", "a-1", "b-0"]
    table = heads_table(data)
    assert table.groupby("study").size().to_dict() == {"a-0": 72, "a-1": 72, "b-0": 96}
    assert table["beta_se_mean"].tolist() == pytest.approx([0.01] * 240)
    assert not table["saturated_mean"].any() and table["tokens_5_cov"].eq(900).all()
    assert data["layers"].values.tolist() == [6, 6, 8]
    assert all(array.dtype.kind in "bfi" for array in data.data_vars.values())  # none became objects
    questions = {row[0] for row in answer_rows(data)}
    assert len(questions) == 9
    lines = studies_answer(data, 0.5)
    assert "keep the order of their horizons" in lines["horizons"] and "(a)" in lines["rates"]
    assert "do not keep" in studies_answer(data, 0.9999)["horizons"]


def test_one_study_alone_is_shown_and_answers_nothing_between_texts():
    data = compared(studies(texts=1))
    assert "agreement" not in data and len(heads_table(data)) == 72
    assert np.isnan(data["order_over_models_low"]).all()
    assert "undecided" in studies_answer(data, 0.5)["horizons"]


def test_a_saturated_head_counts_in_no_text():
    made = studies(texts=2)
    fits = made["small-1"]
    made["small-1"] = fits.assign(saturated=fits["saturated"] | ((fits["layer"] == 2) & (fits["head"] == 3)))
    data = compared(made)
    assert data["heads_compared"].values.tolist() == [[71, 71]]


def test_texts_of_a_model_must_have_the_same_sizes():
    made = studies(texts=2)
    made["small-1"] = made["small-1"].isel(n=[0, 1])
    with pytest.raises(
        ValueError, match="small-0 and small-1 are of one model but differ in measure_errors.sizes; run"
    ):
        compared(made)


def test_the_same_studies_give_the_same_numbers():
    one, other = (compared(studies(texts=3)) for _ in range(2))
    assert one.identical(other)
