"""Settings of a model of the atlas: what comes with the workflow can be, and what cannot is refused in one line."""

import json

import pytest
import yaml

from attnlimit.workflow.config import check
from attnlimit.workflow.costs import expected_seconds
from attnlimit.workflow.study_files import MODEL, known_studies
from support.configs import DEFAULT, ROOT, merged, refusal

ENTRY = merged(DEFAULT, yaml.safe_load((ROOT / MODEL.sizes).read_text()))
MINUTES = 3  # of a core, a model


def test_every_model_that_comes_with_the_workflow_can_be_planned_and_takes_minutes():
    known = known_studies(ROOT, MODEL)
    assert {"all-minilm-l6-v2", "bge-small-en", "smollm2-135m"} <= set(known)
    for path in known.values():
        config = merged(ENTRY, yaml.safe_load((ROOT / path).read_text()))
        check(config, root=ROOT)
        assert sum(expected_seconds(config, rule) for rule in ("measure_keys", "measure_couplings")) < 60 * MINUTES


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("measure_keys", "contexts", [256, 512], "measure_keys.contexts: [256, 512]; take [512]"),
        (
            "measure_keys",
            "protocols",
            ["uniform", "sink", "recent", "sink_recent", "top"],
            "no window, which the atlas",
        ),
        ("measure_keys", "parts", 9, "measure_keys.parts: more jobs than prepare_windows.windows 8"),
    ],
)
def test_settings_that_cannot_be(section, key, value, words):
    assert words in refusal(merged(ENTRY, {section: {key: value}}))


def test_a_window_longer_than_an_encoder_reads():
    longer = {"prepare_windows": {"window": 1024}, "measure_keys": {"contexts": [1024], "context": 1024}}
    assert "prepare_windows.window: 1024 tokens, but the model reads at most 512" in refusal(merged(ENTRY, longer))


@pytest.mark.parametrize("kind", [{"model_type": "bert"}, {"model_type": "llama", "num_key_value_heads": 2}])
def test_either_kind_of_model_is_taken(tmp_path, kind):
    facts = {"num_attention_heads": 4, "num_hidden_layers": 6, "hidden_size": 32, "max_position_embeddings": 512}
    (tmp_path / "config.json").write_text(json.dumps(facts | kind))
    for name in ("tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")
    check(merged(ENTRY, {"fetch_model": {"source": "local", "location": str(tmp_path)}}))


def test_a_family_with_another_attention_is_refused_in_one_line(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5", "num_attention_heads": 2}))
    said = refusal(merged(ENTRY, {"fetch_model": {"source": "local", "location": str(tmp_path)}}))
    assert "position biases" in said and "\n" not in said


def test_the_language_chapter_still_asks_for_two_contexts():
    smollm2 = merged(DEFAULT, yaml.safe_load((ROOT / "configs/smollm2.yaml").read_text()))
    said = refusal(merged(smollm2, {"measure_keys": {"contexts": [1024]}}))
    assert "measure_keys.contexts: one tells nothing of how keys grow" in said
