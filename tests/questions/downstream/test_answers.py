"""Answers from embeddings made by hand."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from attnlimit.questions.downstream.answers import PROBE, SCALE, answers, by_nearest, by_probe, chance, compared


def unit(*angles):
    """Embeddings in a plane, at angles in degrees."""
    radians = np.radians(angles)
    return np.stack([np.cos(radians), np.sin(radians)], -1)


def raw(drawn, dense, **more):
    """Draws (text, replicate, n, feature) of texts; the couplings are of no matter."""
    labels = {"text": range(len(dense)), "replicate": range(drawn.shape[1]), "n": range(drawn.shape[2])}
    own = {name: (("text", "layer", "head"), np.ones((len(dense), 1, 1))) for name in ("horizon", "constant_tilt")}
    own["horizon_frobenius"] = own["horizon"]
    own |= {
        "embedding": (("text", "replicate", "n", "feature"), drawn),
        "dense_embedding": (("text", "feature"), dense),
    }
    return xr.Dataset(own | more, coords=labels | {"layer": [0], "head": [0]})


def task(*label, **coords):
    return xr.Dataset({"label": ("text", np.array(label))}, coords={"text": range(len(label))})


def test_the_nearest_is_never_the_text_itself():
    candidates = unit(0, 10, 90, 100)
    found = by_nearest(candidates, candidates, np.array([3, 4, 5, 6]))
    np.testing.assert_array_equal(found.answer, [4, 3, 6, 5])


def test_the_logit_of_an_article_is_its_largest_cosine_without_the_text_itself():
    """Articles 0 at 0, 40, 50 degrees and 1 at 90, 100."""
    candidates = unit(0, 40, 50, 90, 100)
    found = by_nearest(candidates, candidates, np.array([0, 0, 0, 1, 1]))
    angles = [[40, 90], [10, 50], [10, 40], [40, 10], [50, 10]]
    np.testing.assert_allclose(found.logits, SCALE * np.cos(np.radians(angles)))
    np.testing.assert_array_equal(found.answer, found.logits.argmax(-1))


def test_logits_are_compared_as_a_softmax_sees_them():
    """Probabilities 1/2, 1/2 against 1/4, 3/4; a common shift changes nothing, another temperature does."""
    dense, drawn = np.log([0.5, 0.5]), np.log([[0.25, 0.75], [0.5, 0.5]]) + 7
    error, divergence = compared(drawn, dense)
    np.testing.assert_allclose(error, [np.log(3) / 2, 0], atol=1e-12)
    np.testing.assert_allclose(divergence, [0.5 * np.log(2) + 0.5 * np.log(2 / 3), 0], atol=1e-12)
    back = compared(dense[None], drawn[0])[1]
    np.testing.assert_allclose(back, 0.25 * np.log(0.5) + 0.75 * np.log(1.5))  # of the dense from the drawn: another
    assert compared(2 * drawn, dense)[1][0] > divergence[0]


def test_a_draw_that_turns_an_embedding_finds_another_article():
    """Articles at 0 and 10, 90 and 100 degrees. One draw turns the first text to 60, nearest to 90: wrong."""
    dense = unit(0, 10, 90, 100)
    drawn = np.stack([dense, dense], 1)[:, :, None]  # (text, replicate, n, feature)
    drawn[0, 0, 0] = unit(60)
    found = answers("retrieval", raw(drawn, dense), task(0, 0, 1, 1))
    np.testing.assert_array_equal(found["right"][:, :, 0], [[False, True], [True, True], [True, True], [True, True]])
    np.testing.assert_array_equal(found["agrees"], found["right"])
    assert found["dense_right"].all()
    np.testing.assert_array_equal(found["answer"][0, :, 0], [1, 0])
    assert found["embedding_error"][0, 0, 0] == pytest.approx(2 * np.sin(np.radians(30)))  # a chord
    assert float(found["embedding_error"].sum()) == pytest.approx(1)  # all others are 0
    np.testing.assert_array_equal(found["cluster"], [0, 0, 1, 1])
    assert float(found["chance"]) == pytest.approx(1 / 3)


def test_candidates_have_no_drawn_keys():
    """All draws turned alike: among themselves all would find their article, among dense ones none does."""
    dense, drawn = unit(0, 10, 90, 100), unit(90, 100, 180, 190)[:, None, None]
    found = answers("retrieval", raw(drawn, dense), task(0, 0, 1, 1))
    np.testing.assert_array_equal(found["right"].values.ravel(), [False, False, True, True])


def test_agreement_and_truth_are_two_things():
    """Two texts whose dense answers are wrong, and a draw that is right."""
    dense = unit(0, 50, 55, 100)
    drawn = dense[:, None, None].copy()
    drawn[1] = unit(20)
    found = answers("retrieval", raw(drawn, dense), task(0, 0, 1, 1))
    np.testing.assert_array_equal(found["dense_right"], [True, False, False, True])
    np.testing.assert_array_equal(found["right"].values.ravel(), [True, True, False, True])
    np.testing.assert_array_equal(found["agrees"].values.ravel(), [True, False, True, True])


def test_a_probe_learns_from_other_texts_and_answers_for_draws():
    training = unit(0, 5, 10, 90, 95, 100)
    found = by_probe(training, np.array([3, 3, 3, 7, 7, 7]), unit(2, 93))
    assert found.answer.tolist() == [3, 7]
    np.testing.assert_allclose(found.logits.sum(-1), 0, atol=1e-12)
    dense, drawn = unit(8, 88), unit(8, 20)[:, None, None]
    lesson = {
        "training_embedding": (("training_text", "feature"), training),
        "training_text": ("training_text", np.arange(2, 8)),
    }
    found = answers("labels", raw(drawn, dense, **lesson), task(0, 1, 0, 0, 0, 1, 1, 1))
    np.testing.assert_array_equal(found["right"].values.ravel(), [True, False])
    assert found["dense_right"].all() and float(found["chance"]) == 0.5
    np.testing.assert_array_equal(found["cluster"], [0, 1])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_logits_of_a_probe_are_those_of_its_probabilities(classes):
    rng = np.random.default_rng(5)
    training, labels, asked = rng.normal(size=(40, 4)), np.arange(40) % classes, rng.normal(size=(6, 2, 4))
    probe = LogisticRegression(**PROBE).fit(training, labels)
    found = by_probe(training, labels, asked)
    np.testing.assert_allclose(softmax(found.logits, -1).reshape(12, -1), probe.predict_proba(asked.reshape(12, 4)))
    np.testing.assert_array_equal(found.answer.ravel(), probe.predict(asked.reshape(12, 4)))


def test_a_classifier_answers_by_its_largest_score():
    dense = unit(0, 90)
    scores = {"scores": (("text", "replicate", "n", "class"), np.array([[[[1.0, 2, 0]]], [[[1.0, 0, 0]]]]))}
    scores["dense_scores"] = (("text", "class"), np.array([[1.0, 2, 0], [0, 0, 1]]))
    found = answers("classifier", raw(dense[:, None, None], dense, **scores), task(1, 2))
    np.testing.assert_array_equal(found["answer"].values.ravel(), [1, 0])
    np.testing.assert_array_equal(found["agrees"].values.ravel(), [True, False])
    np.testing.assert_allclose(found["logit_error"].values.ravel(), [0, np.std([1, 0, -1])], atol=1e-12)
    z = 2 + np.e  # of both softmaxes: log p - log q is the difference of logits
    np.testing.assert_allclose(found["divergence"].values.ravel(), [0, (np.e - 1) / z], atol=1e-12)


def test_chance_is_that_of_a_text_taken_at_random_or_of_the_commonest_class():
    label = np.array([0, 0, 0, 1, 1])
    assert chance("retrieval", label) == pytest.approx((3 * 2 + 2 * 1) / 5 / 4)
    assert chance("labels", label) == 3 / 5
