"""Settings of chapter language that cannot be are refused in one line that names the key."""

import pytest
import yaml

from attnlimit.base.about import Known
from attnlimit.base.section_types import ConfigError
from attnlimit.questions.keys.about import check
from support.configs import DEFAULT, ROOT, merged, refusal

SMOLLM2 = merged(DEFAULT, yaml.safe_load((ROOT / "configs/smollm2.yaml").read_text()))


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("measure_keys", "context", 1000, "measure_keys.context: 1000 is not among contexts"),
        (
            "measure_keys",
            "last",
            200,
            "measure_keys.last: 1 first and 200 last keys are more than half of the context 256",
        ),
        ("measure_keys", "protocols", ["uniform", "sink"], "measure_keys.protocols: no recent"),
        ("measure_keys", "sizes", [0, 8, 16], "measure_keys.sizes"),
        ("measure_keys", "parts", 7, "measure_keys.parts: more jobs than prepare_windows.windows 6"),
        (
            "prepare_windows",
            "window",
            2048,
            "measure_keys.contexts: 4096 tokens are more than prepare_windows.window 2048",
        ),
        (
            "measure_next_token",
            "sizes",
            [16, 32, 500],
            "measure_next_token.sizes: with the kept keys 565 are more than half",
        ),
        ("measure_next_token", "protocols", ["uniform", "window"], "measure_next_token.protocols: no sink_recent"),
        ("measure_next_token", "parts", 7, "measure_next_token.parts: more jobs"),
    ],
)
def test_settings_that_cannot_be(section, key, value, words):
    assert words in refusal(merged(SMOLLM2, {section: {key: value}}))


def test_a_window_longer_than_the_model_reads():
    with pytest.raises(ConfigError, match="prepare_windows.window: 4096 tokens, but the model reads at most 2048"):
        check(SMOLLM2, Known(longest=2048))
    check(DEFAULT, Known(longest=512))  # a run without the chapter is not asked


def test_the_chapter_stands_alone():
    assert "chapters: language cannot be combined" in refusal(merged(SMOLLM2, {"chapters": ["language", "theory"]}))
