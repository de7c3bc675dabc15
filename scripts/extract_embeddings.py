"""Inputs of the attention layers for one shard of the token blocks, by one forward pass a block."""

from pathlib import Path

import numpy as np
import xarray as xr

from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import share
from attnlimit.base.store import identity, read, write
from attnlimit.sampling.about import STORES
from attnlimit.sources.model.bert import layer_inputs, load, require_readable
from attnlimit.sources.model.files import require_as_fetched
from attnlimit.sources.model.population import assemble

p = begin(snakemake)
options = p.settings

corpus, heads = read(snakemake.input.blocks), read(snakemake.input.heads)
model_files = snakemake.input.config, snakemake.input.weights
require_as_fetched(model_files, heads.attrs["model"]["sha256"], corpus.attrs["tokenizer_sha256"])
block_of_token = corpus["block_of_token"].values
blocks = share(list(np.unique(block_of_token)), p.shard, options["shards"])
numbers = np.flatnonzero((block_of_token >= blocks[0]) & (block_of_token <= blocks[-1]))  # (token,)
starts = np.flatnonzero(np.diff(block_of_token[numbers])) + 1
texts = np.split(corpus["token_id"].values[numbers], starts)

folder = Path(snakemake.input.weights).parent
model = load(folder)
require_readable(model, texts, folder)
layers = list(heads["layer"].values) if p.layers is None else sorted(p.layers)
passes = bar(layer_inputs(model, texts, layers), total=len(texts), unit="blocks", name="embeddings")
tokens, rounding = assemble(passes, len(numbers), options["dtype"])  # (layer, token, feature), (layer,)
shard = xr.Dataset(
    {"tokens": (("layer", "token", "feature"), tokens), "rounding_error": ("layer", rounding)},
    coords={"layer": layers, "token": numbers},
)
facts = {"dtype": options["dtype"], "first_token": int(numbers[0]), "last_token": int(numbers[-1])}
words = STORES["embeddings/shard_{shard}"]
write(shard, snakemake.output.embeddings, words, **identity(corpus, heads), **facts, code=p.code)
