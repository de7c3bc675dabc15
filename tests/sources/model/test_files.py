"""The files of a model are those that were meant: by their checksum, all there, unchanged since."""

from pathlib import Path

import pytest

from attnlimit.base.files import sha256_of
from attnlimit.sources.model.bert import load
from attnlimit.sources.model.files import (
    FILES,
    copy_verified,
    embedded_model,
    local_model,
    require_as_fetched,
)
from support.small_models import save_bert


def test_the_wheel_holds_every_file_as_pinned():
    found = embedded_model()
    assert {name: sha256_of(path) for name, path in found.paths.items()} == found.sha256
    assert list(found.paths) == list(FILES)


def test_a_copy_is_verified(tmp_path):
    source, target = tmp_path / "source", tmp_path / "models" / "target"
    source.write_bytes(b"weights")
    target.parent.mkdir()
    copy_verified(source, target, sha256_of(source))
    assert target.read_bytes() == b"weights"


def test_a_copy_with_another_sha256_leaves_nothing(tmp_path):
    source, folder = tmp_path / "source", tmp_path / "models"
    source.write_bytes(b"weights")
    folder.mkdir()
    with pytest.raises(ValueError, match="sha256"):
        copy_verified(source, folder / "target", "0" * 64)
    assert list(folder.iterdir()) == []


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small random model in a folder of its own."""
    return save_bert(tmp_path)


def test_a_folder_is_taken_as_it_is(folder):
    (folder / "tokenizer.json").write_text("{}")
    found = local_model(str(folder))
    assert found.identity == {"name": folder.name}
    assert found.sha256 == {name: sha256_of(folder / name) for name in FILES}


@pytest.mark.parametrize(
    ("missing", "remedy"), [("tokenizer.json", "AutoTokenizer"), ("model.safetensors", "pytorch_model.bin")]
)
def test_a_folder_that_lacks_a_file_is_refused(folder, missing, remedy):
    (folder / "tokenizer.json").write_text("{}")
    (folder / missing).unlink()
    with pytest.raises(LookupError) as error:
        local_model(str(folder))
    for part in ("fetch_model.location", str(folder), f"no {missing}", remedy, "save_pretrained"):
        assert part in str(error.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^fetch_model\.location: no folder .*none; .*model\.safetensors$"):
        local_model(str(tmp_path / "none"))


def test_a_model_that_changed_since_it_was_fetched_is_refused(folder):
    config, weights = folder / "config.json", folder / "model.safetensors"
    sha256 = {path.name: sha256_of(path) for path in (config, weights)} | {"tokenizer.json": "a" * 64}
    require_as_fetched([config, weights], sha256, "a" * 64)
    with pytest.raises(ValueError, match=r"tokenizer\.json: sha256 was b.* delete it and run again"):
        require_as_fetched([config, weights], sha256, "b" * 64)
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert load(folder), "which no library tells from the model that was meant"
    with pytest.raises(ValueError, match=r"model\.safetensors: sha256 is .* delete the file"):
        require_as_fetched([config, weights], sha256, "a" * 64)
