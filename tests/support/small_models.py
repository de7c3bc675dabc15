"""Random models small enough to be made for one test, and changes to their files."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    BigBirdConfig,
    BigBirdForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ElectraConfig,
    ElectraForPreTraining,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)

from attnlimit.sources.model.files import embedded_folder

TENSOR = "encoder.layer.1.attention.self.key.weight"
SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def save_bert(folder: Path, **sizes: int) -> Path:
    """A BERT of random weights, of these sizes instead of SIZES where given."""
    torch.manual_seed(0)
    BertModel(BertConfig(**({"vocab_size": 20, "max_position_embeddings": 16} | SIZES | sizes))).save_pretrained(folder)
    return folder


def save_bert_with_tokenizer(folder: Path, **sizes: int) -> Path:
    """The same with MiniLM's tokenizer, which is BERT's."""
    save_bert(folder, **({"vocab_size": 30522, "max_position_embeddings": 512} | sizes))
    (folder / "tokenizer.json").write_bytes((embedded_folder() / "tokenizer.json").read_bytes())
    return folder


def rewrite_tensors(folder: Path, change) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def rewrite_config(folder: Path, change) -> None:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


SMALL = {
    "vocab_size": 40,
    "hidden_size": 12,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 16,
    "max_position_embeddings": 300,
}
DISTIL = {"dim": 12, "n_layers": 3, "n_heads": 3, "hidden_dim": 16, "vocab_size": 40, "max_position_embeddings": 300}
CHECKPOINTS = {
    "bert": (BertForMaskedLM, BertConfig(**SMALL), 300),
    "roberta": (RobertaForMaskedLM, RobertaConfig(**SMALL, pad_token_id=1), 298),
    "xlm-roberta": (XLMRobertaForMaskedLM, XLMRobertaConfig(**SMALL, pad_token_id=1), 298),
    "electra": (ElectraForPreTraining, ElectraConfig(**SMALL, embedding_size=5), 300),
    "big_bird": (BigBirdForMaskedLM, BigBirdConfig(**SMALL, block_size=4, num_random_blocks=1), 300),
    "distilbert": (DistilBertForMaskedLM, DistilBertConfig(**DISTIL), 300),
}


def save_checkpoint(family: str, folder: Path) -> None:
    """A random model as the hub has it, with the head it was trained with; large weights, so that attention is uneven,
    and biases that are not zero."""
    torch.manual_seed(0)
    kind, config, _ = CHECKPOINTS[family]
    checkpoint = kind(config)
    for parameter in checkpoint.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    checkpoint.save_pretrained(folder)
