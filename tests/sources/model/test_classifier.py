"""The head of a classifier, read from its checkpoint, gives the scores that transformers gives."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from attnlimit.sources.model.bert import load
from attnlimit.sources.model.classifier import HEADS, load_head
from attnlimit.sources.model.drawn_keys import dense_states
from attnlimit.sources.model.families import FAMILIES, class_names
from support.small_models import CHECKPOINTS, rewrite_config, rewrite_tensors

IDS = np.random.default_rng(0).integers(2, 40, 24)


def save_classifier(family: str, folder: Path, **options) -> torch.nn.Module:
    """A random classifier as the hub has it; weights large enough for scores that differ."""
    torch.manual_seed(0)
    _, config, _ = CHECKPOINTS[family]
    config = type(config).from_dict(config.to_dict() | {"num_labels": 5} | options)
    if family == "big_bird":
        config.attention_type = "original_full"
    model = AutoModelForSequenceClassification.from_config(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    model.save_pretrained(folder)
    return model.eval()


def test_every_family_has_a_head():
    assert HEADS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_are_those_of_transformers(family, tmp_path):
    own = save_classifier(family, tmp_path)
    with torch.inference_mode():
        expected = own(input_ids=torch.as_tensor(IDS)[None]).logits[0]
    found = load_head(tmp_path).scores(dense_states(load(tmp_path), IDS)[-1])
    assert found.shape == (5,) and float(expected.std()) > 0.1
    assert float((found - expected).abs().max() / expected.abs().max()) < 1e-5


@pytest.fixture
def classifier(tmp_path) -> Path:
    save_classifier("bert", tmp_path)
    return tmp_path


def test_classes_are_in_the_order_of_the_scores(classifier):
    assert class_names(classifier / "config.json") == [f"LABEL_{number}" for number in range(5)]
    rewrite_config(classifier, lambda config: config.update(id2label={"1": "b", "0": "a"}))
    assert class_names(classifier / "config.json") == ["a", "b"]
    rewrite_config(classifier, lambda config: config.pop("id2label"))  # as transformers writes two classes
    assert class_names(classifier / "config.json") == ["LABEL_0", "LABEL_1"]


WRONG = [
    (lambda config: config.update(id2label={"1": "a", "2": "b"}), "id2label does not count from 0"),
    (lambda config: config.update(id2label={"0": "a", "1": "b"}), "its head has 5 classes, .* names 2"),
    (lambda config: config.update(problem_type="regression"), "problem_type regression"),
]


@pytest.mark.parametrize(("change", "told"), WRONG)
def test_other_classes_than_those_of_the_head_are_refused(change, told, classifier):
    rewrite_config(classifier, change)
    with pytest.raises(ValueError, match=told):
        load_head(classifier)


def test_a_model_without_a_head_is_refused(classifier):
    rewrite_tensors(classifier, lambda tensors: tensors.pop("classifier.weight"))
    with pytest.raises(LookupError, match="no tensor classifier.weight, so no sequence classifier"):
        load_head(classifier)


def test_a_head_with_nan_is_refused(classifier):
    rewrite_tensors(classifier, lambda tensors: tensors["classifier.bias"].fill_(np.nan))
    with pytest.raises(ValueError, match="NaN"):
        load_head(classifier)
