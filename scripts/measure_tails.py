"""Spectrum and tails of the tokens of one layer, along the leading directions of their covariance and of each head."""

import numpy as np

from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import cuts
from attnlimit.base.store import identity, read, write
from attnlimit.questions.tails.about import STORES
from attnlimit.questions.tails.measure import tails_of_tokens
from attnlimit.sources.model.population import gather
from attnlimit.theory.geometry import tilt_matrix

p = begin(snakemake)
options = p.settings

corpus, heads = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
geometry = read(snakemake.input.geometry)
law = geometry["token_mean"].values, geometry["token_covariance"].values
tilts = tilt_matrix(*(heads[name].values.astype(np.float64) for name in ("query_weight", "key_weight")))
numbers = np.arange(corpus.sizes["token"])
blocks = cuts(len(numbers), p.block)
tokens = (gather(snakemake.input.embeddings, p.layer, numbers[cut]) for cut in blocks)
shown = bar(tokens, total=len(blocks), unit="blocks", name="tails")

tails = tails_of_tokens(shown, *law, tilts, options["directions"], options["scales"], options["effective"])
facts = {"population": len(numbers), "effective": options["effective"]}
words = STORES["tails/layer_{layer}"]
write(
    tails.assign_coords(layer=p.layer), snakemake.output.tails, words, **identity(corpus, heads), **facts, code=p.code
)
