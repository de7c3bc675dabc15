"""The README's config for a model and a text of one's own, from its first line to a figure."""

import re
import shutil
import subprocess
import sys

import torch
import yaml
from snakemake.utils import update_config
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from attnlimit.base.store import read
from attnlimit.sources.model.files import embedded_folder
from support.workflow import ROOT, clone

SENTENCES = ["The cat sat on the mat.", "Attention has a limit.", "Every token sees all the others, and so do we."]


def test_the_example_of_the_readme_runs_to_a_figure(tmp_path):
    folder = clone(tmp_path)
    example = re.search(r"`my\.yaml`:\n\n```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    (folder / "my.yaml").write_text(example)
    config = yaml.safe_load(example)

    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=30522, **sizes)).save_pretrained(folder / config["fetch_model"]["location"])
    Tokenizer.from_file(str(embedded_folder() / "tokenizer.json")).save(str(folder / "my_bert" / "tokenizer.json"))
    texts = folder / config["fetch_corpus"]["location"]
    texts.mkdir()
    for number, sentence in enumerate(SENTENCES):
        (texts / f"{number}.txt").write_text(" ".join([sentence] * 200))

    wanted = ["results/rates/heads.zarr.zip", "results/figures/convergence.png"]
    fewer = {"layers": [1], "extract_embeddings": {"shards": 1}}  # jobs, each of which takes seconds to start
    fewer |= {"compute_limits": {"queries": 200}}  # the limit by a surrogate
    fewer |= {"measure_errors": {"replicates": 20, "group": 5}, "fit_rates": {"bootstrap": 200}}
    (folder / "fewer.yaml").write_text(yaml.safe_dump(fewer))
    command = [sys.executable, "-m", "snakemake", *wanted, "--cores", "2", "--configfile", "my.yaml", "fewer.yaml"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    rates = read(folder / wanted[0])
    assert dict(rates.sizes) | {"layer": 1, "head": 4, "n": 5} == dict(rates.sizes)  # three heads, and the whole layer
    assert rates.attrs["model"]["name"] == "my_bert" and rates.attrs["corpus"]["name"] == "my_texts"
    assert rates.attrs["population"] >= config["tokenize_corpus"]["population"]
    assert 0 < rates["limit_se"].sel(statistic="mean").max() < 0.05
    assert rates["beta"].sel(statistic="mean", part="error").notnull().all()

    # As in a folder that was restored from an archive, which holds neither the model's files nor the texts.
    resolved = yaml.safe_load((folder / "config.yaml").read_text())
    for overlay in (config, fewer):
        update_config(resolved, overlay)
    (folder / "provenance").mkdir()
    (folder / "provenance/config.yaml").write_text(yaml.safe_dump(resolved))
    shutil.rmtree(folder / "my_bert")
    shutil.rmtree(texts)
    plan = subprocess.run([*command, "-n"], cwd=folder, capture_output=True, text=True)
    assert "Nothing to be done" in plan.stdout + plan.stderr, plan.stdout + plan.stderr
    (folder / "fewer.yaml").write_text(yaml.safe_dump(fewer | {"fetch_corpus": {"characters": 1000}}))
    plan = subprocess.run([*command, "-n"], cwd=folder, capture_output=True, text=True)
    assert plan.returncode != 0
    assert "config: fetch_corpus.location: no file or folder 'my_texts' here" in plan.stdout + plan.stderr
