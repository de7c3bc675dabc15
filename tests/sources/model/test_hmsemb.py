"""A pack of a RoBERTa and the files made of it are one model; a damaged one is refused in one line."""

import json

import numpy as np
import pytest
import torch
from transformers import RobertaConfig, RobertaModel

from attnlimit.base.files import sha256_of
from attnlimit.sources.model.bert import load
from attnlimit.sources.model.files import FILES, embedded_folder
from attnlimit.sources.model.from_package import package_model
from attnlimit.sources.model.hmsemb import unpack
from support.packages import sha256, wheel
from support.small_models import SMALL

GROUP = 4
IDS = torch.randint(2, SMALL["vocab_size"], (3, 20), generator=torch.Generator().manual_seed(1))
ARCH = {"hidden": 12, "layers": 3, "heads": 3, "intermediate": 16, "vocab": 40, "max_positions": 300, "type_vocab": 2}
ARCH |= {"layer_norm_eps": 1e-12, "position_offset": 2}
PLACES = {"ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "f1": "intermediate.dense"}
PLACES |= {"f2": "output.dense", "fln": "output.LayerNorm"}


def small_roberta() -> RobertaModel:
    """Weights large enough for uneven attention, and biases that are not zero."""
    torch.manual_seed(0)
    config = RobertaConfig(**SMALL, pad_token_id=1, type_vocab_size=2, layer_norm_eps=1e-12)
    model = RobertaModel(config, add_pooling_layer=False).eval()
    for parameter in model.parameters():
        parameter.data = parameter.data + 0.3 * torch.randn_like(parameter)
    return model


def rounded(matrix: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers up to 127, (group, number), and the scale of each group."""
    groups = matrix.detach().numpy().reshape(-1, GROUP)
    scales = (abs(groups).max(1) / 127).astype(np.float32)
    return np.round(groups / scales[:, None]).astype(np.int8), scales


def pack(model: RobertaModel) -> tuple[dict, bytes]:
    """Header and tensors of a pack; the model becomes what they stand for."""
    weights = model.state_dict()
    wanted = {"word_emb": [weights["embeddings.word_embeddings.weight"]]}
    wanted |= {"pos_emb": [weights["embeddings.position_embeddings.weight"]]}
    wanted |= {"type_emb": [weights["embeddings.token_type_embeddings.weight"]]}
    for short, kind in (("w", "weight"), ("b", "bias")):
        wanted[f"emb_ln.{short}"] = [weights[f"embeddings.LayerNorm.{kind}"]]
        for layer in range(ARCH["layers"]):
            start = f"encoder.layer.{layer}"
            three = [weights[f"{start}.attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            wanted[f"l{layer}.qkv.{short}"] = three
            wanted |= {f"l{layer}.{part}.{short}": [weights[f"{start}.{PLACES[part]}.{kind}"]] for part in PLACES}
    described, content = [], b""
    for name, parts in wanted.items():
        whole = parts[0].ndim == 2 and name not in ("pos_emb", "type_emb")
        if whole:
            pairs = [rounded(part) for part in parts]
            for part, (numbers, scales) in zip(parts, pairs, strict=True):
                part.copy_(torch.as_tensor((numbers * scales[:, None]).reshape(part.shape)))
            data = b"".join(numbers.tobytes() for numbers, _ in pairs) + b"".join(each.tobytes() for _, each in pairs)
        else:
            data = torch.cat(parts).numpy().tobytes()
        shape = list(torch.cat(parts).shape)
        kind = {"dtype": "i8", "group": GROUP} if whole else {"dtype": "f32", "group": 0}
        described.append({"name": name, "shape": shape, "len": len(data)} | kind)
        content += data
    tokenizer = (embedded_folder() / "tokenizer.json").read_bytes()
    header = {"arch": dict(ARCH), "quantization": "int8", "tokenizer_len": len(tokenizer), "tensors": described}
    return header, tokenizer + content


def written(header: dict, content: bytes) -> bytes:
    text = json.dumps(header).encode()
    return b"HMSEMB01" + len(text).to_bytes(8, "little") + text + content


@pytest.fixture
def made():
    model = small_roberta()
    return model, *pack(model)


def test_both_give_the_same_states(made, tmp_path):
    model, header, content = made
    (tmp_path / "tiny.hmsemb").write_bytes(written(header, content))
    assert unpack(tmp_path / "tiny.hmsemb", tmp_path) == "int8"
    found = load(tmp_path)
    for name, tensor in model.state_dict().items():
        assert torch.equal(found.state_dict()[name], tensor), name
    with torch.inference_mode():
        assert torch.equal(found(input_ids=IDS).last_hidden_state, model(input_ids=IDS).last_hidden_state)
    assert (tmp_path / "tokenizer.json").read_bytes() == (embedded_folder() / "tokenizer.json").read_bytes()


def change_dtype(header):
    header["tensors"][0]["dtype"] = "f16"


def change_name(header):
    header["tensors"][5]["name"] = "l0.mlp.w"


def change_shape(header):
    header["tensors"][0]["shape"] = [41, 12]


def groups_across_rows(header):
    """As many scales as before, but each for parts of two rows."""
    header["tensors"][0]["shape"] = [80, 6]


def leave_out_rounding(header):
    del header["quantization"]


def leave_out_sizes(header):
    del header["arch"]["heads"]


def leave_out_tensor(header):
    header["tensors"].pop()


def listed(header):
    header["tensors"] = [1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (change_dtype, "dtype 'f16' of 'word_emb'"),
        (change_name, "mlp"),
        (change_shape, ""),
        (groups_across_rows, "in groups of 4"),
        (leave_out_rounding, "quantization"),
        (leave_out_sizes, "heads"),
        (leave_out_tensor, "bytes follow its last tensor"),
        (listed, ""),
    ],
)
def test_another_header_is_refused_in_one_line(change, why, made, tmp_path):
    _, header, content = made
    change(header)
    (tmp_path / "tiny.hmsemb").write_bytes(written(header, content))
    with pytest.raises(ValueError, match=r"tiny\.hmsemb: damaged, or no pack of a RoBERTa \(.*; take model") as error:
        unpack(tmp_path / "tiny.hmsemb", tmp_path)
    assert why in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "model.safetensors").exists()


def test_a_pack_cut_short_or_of_another_kind_is_refused(made, tmp_path):
    whole = written(*made[1:])
    for content in (b"", b"no pack", whole[:12], whole[:200], whole[:-1], b"X" + whole[1:], whole + b"\0"):
        (tmp_path / "tiny.hmsemb").write_bytes(content)
        with pytest.raises(ValueError, match=r"tiny\.hmsemb: damaged, or no pack"):
            unpack(tmp_path / "tiny.hmsemb", tmp_path)


def test_a_missing_tensor_is_named(made, tmp_path):
    _, header, content = made
    content = content[: -header["tensors"][-1]["len"]]
    header["tensors"].pop()
    (tmp_path / "tiny.hmsemb").write_bytes(written(header, content))
    unpack(tmp_path / "tiny.hmsemb", tmp_path)
    with pytest.raises(LookupError, match=r"model\.safetensors: no tensor encoder\.layer\.2\.output\.LayerNorm\.bias"):
        load(tmp_path)


def test_a_pack_in_a_package_stands_for_all_files(made, tmp_path, monkeypatch):
    monkeypatch.delenv("ATTNLIMIT_DOWNLOADS", raising=False)
    content = written(*made[1:])
    name, packed = wheel({"tiny_texts/tiny.hmsemb": content})
    for folder in ("packages", "scratch"):
        (tmp_path / folder).mkdir()
    (tmp_path / "packages" / name).write_bytes(packed)
    section = {"location": "tiny-texts==1.0", "file": name, "sha256": sha256(packed), "title": "Tiny", "licence": "MIT"}
    section |= {"files": "tiny_texts/*", "weights_sha256": sha256(content)}
    source = package_model(section, tmp_path, tmp_path / "scratch")
    assert source.sha256 == {file: sha256_of(tmp_path / "scratch" / file) for file in FILES}
    assert source.identity["quantised"] == "int8" and sha256(content) in source.identity["converted"]
