"""Whatever bytes a model comes in: it loads whole, or one line names the file; nothing else."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlimit.sources.model.bert import heads_dataset, load
from support.fuzz import damage, other_value, told
from support.small_models import save_bert


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    """A model so small that its files are mostly what describes it."""
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 4}
    return save_bert(tmp_path_factory.mktemp("fuzz") / "bert", vocab_size=5, max_position_embeddings=4, **sizes)


def loaded(bert: Path, name: str, content: bytes) -> xr.Dataset | None:
    """The heads of a model, one of whose files is replaced; the message may name another, to which it does not fit."""
    place = shutil.copytree(bert, bert.with_name("damaged"), dirs_exist_ok=True)
    (place / name).write_bytes(content)
    return told(place, lambda: heads_dataset(load(place)))


@settings(max_examples=60)
@given(data=st.data())
def test_weights_load_whole_or_are_named(bert, data):
    """A flipped bit among the numbers is the sha256's to find; here the shapes and the finiteness are seen to."""
    content = (bert / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    found = loaded(bert, "model.safetensors", data.draw(damage(content[:header])) + content[header:])
    assert found is None or dict(found.sizes) == {"layer": 1, "head": 2, "width": 2, "feature": 4}
    assert found is None or all(np.isfinite(array).all() for array in found.values())


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=60)
@given(data=st.data())
def test_a_config_json_loads_whole_or_is_named(bert, data):
    config = json.loads((bert / "config.json").read_bytes())
    key = data.draw(st.sampled_from(sorted(config)))
    config[key] = data.draw(other_value(config[key]))
    content = json.dumps(config).encode()
    found = loaded(bert, "config.json", data.draw(damage(content)) if data.draw(st.booleans()) else content)
    assert found is None or found.sizes["feature"] == 4
