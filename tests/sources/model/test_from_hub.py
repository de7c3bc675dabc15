"""A model from the hub: all its files with their checksums, or a refusal before anything is fetched."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnlimit.base.files import sha256_of
from attnlimit.sources.model.bert import load
from attnlimit.sources.model.decoder import load_decoder
from attnlimit.sources.model.families import require_decoder
from attnlimit.sources.model.files import FILES, copy_verified
from attnlimit.sources.model.from_hub import hub_model
from support.hub_fixtures import MODEL, WEIGHTS
from support.hub_server import files_in
from support.messages import told
from support.small_decoders import small_llama, small_tokenizer
from support.small_models import TENSOR, rewrite_config


def test_every_file_of_a_model_arrives_with_its_identity(hub, client, small_bert):
    commit = hub.repositories["model", MODEL].commit
    found = hub_model(MODEL, commit, sha256_of(small_bert / WEIGHTS), client)
    assert found.identity == {"name": MODEL, "revision": commit, "licence": "mit"}
    for name in FILES:
        assert found.paths[name].read_bytes() == (small_bert / name).read_bytes()
        assert found.sha256[name] == sha256_of(small_bert / name)


def test_another_sha256_than_the_hub_lists_is_told_before_any_fetch(hub, client):
    with pytest.raises(ValueError) as error:
        hub_model(MODEL, hub.repositories["model", MODEL].commit, "0" * 64, client)
    told(error, "fetch_model.weights_sha256", "0" * 64, "the hub lists", MODEL)
    assert files_in(client.cache) == []


@pytest.mark.parametrize(
    ("missing", "remedy"),
    [("tokenizer.json", "AutoTokenizer"), (WEIGHTS, "pytorch_model.bin"), ("config.json", "needs")],
)
def test_a_model_that_lacks_a_file_is_refused_before_any_fetch(hub, client, tmp_path, missing, remedy):
    rest = tmp_path / "rest"
    rest.mkdir()
    for name in {*FILES, "pytorch_model.bin"} - {missing}:
        (rest / name).write_bytes(b"{}")
    commit = hub.add("model", "tiny/rest", rest)
    with pytest.raises(LookupError) as error:
        hub_model("tiny/rest", commit, sha256_of(rest / "pytorch_model.bin"), client)
    told(error, "fetch_model.location", "tiny/rest", f"no {missing}", remedy, "source: local")
    assert files_in(client.cache) == []


def without(tensors):
    del tensors[TENSOR]


def with_nan(tensors):
    tensors[TENSOR][0, 0] = torch.nan


@pytest.mark.parametrize(
    ("change", "failure", "named"),
    [(without, LookupError, TENSOR), (with_nan, ValueError, TENSOR), (None, ValueError, "")],
)
def test_wrong_weights_of_the_hub_itself_are_refused(hub, client, small_bert, tmp_path, change, failure, named):
    """A tensor missing, one with NaN, a page in place of the weights: checksums agree, the content is wrong."""
    wrong, target = tmp_path / "wrong", tmp_path / "target"
    wrong.mkdir()
    target.mkdir()
    for name in FILES:
        (wrong / name).write_bytes((small_bert / name).read_bytes())
    if change is None:
        (wrong / WEIGHTS).write_text("<html>" * 1000)
    else:
        tensors = load_file(wrong / WEIGHTS)
        change(tensors)
        save_file(tensors, wrong / WEIGHTS, {"format": "pt"})
    commit = hub.add("model", "tiny/wrong", wrong)
    found = hub_model("tiny/wrong", commit, sha256_of(wrong / WEIGHTS), client)
    for name in FILES:
        copy_verified(found.paths[name], target / name, found.sha256[name])
    with pytest.raises(failure) as error:
        load(target)
    told(error, str(target / WEIGHTS), named)


@pytest.fixture
def small_decoder_folder(tmp_path):
    folder = tmp_path / "llama"
    small_llama().save_pretrained(folder)
    small_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def test_a_language_model_arrives_whole_and_reads(hub, client, small_decoder_folder):
    commit = hub.add("model", "tiny/llama", small_decoder_folder)
    weights = sha256_of(small_decoder_folder / WEIGHTS)
    found = hub_model("tiny/llama", commit, weights, client, require=require_decoder)
    assert found.sha256 == {name: sha256_of(small_decoder_folder / name) for name in FILES}
    model, tokenizer = load_decoder(found.paths["config.json"].parent)
    ids = torch.tensor([tokenizer("the cat").input_ids])
    with torch.no_grad():
        torch.testing.assert_close(model(input_ids=ids)[0], small_llama()(input_ids=ids)[0])


def test_weights_of_a_refused_language_model_are_not_fetched(hub, client, small_decoder_folder):
    rewrite_config(small_decoder_folder, lambda config: config.update(sliding_window=8))
    commit = hub.add("model", "tiny/window", small_decoder_folder)
    weights = sha256_of(small_decoder_folder / WEIGHTS)
    with pytest.raises(ValueError) as error:
        hub_model("tiny/window", commit, weights, client, require=require_decoder)
    told(error, "config.json", "sliding window of 8")
    assert not [path for path in files_in(client.cache) if WEIGHTS in str(path)]
