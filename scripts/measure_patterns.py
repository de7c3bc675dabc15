"""How far sparse attention in real blocks is from dense attention of the same block: every pattern at every budget."""

import numpy as np

from attnlimit.attention.kernel import Heads, choose_device, project
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.store import identity, read, write
from attnlimit.questions.patterns.about import STORES
from attnlimit.questions.patterns.measure import Reading, chosen_blocks, layer_errors
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings
device = choose_device(p.device)

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
block_of_token, heads = corpus["block_of_token"].values, Heads.of(weights)
chosen = chosen_blocks(block_of_token, options["blocks"], options["sizes"])


def projected(numbers: np.ndarray):
    tokens = gather(snakemake.input.embeddings, p.layer, numbers)
    return int(block_of_token[numbers[0]]), project(tokens, heads, tokens.mean(0), device, options["dtype"])


reading = Reading.of(options, p.seed, p.layer)
errors = layer_errors(map(projected, bar(chosen, total=len(chosen), unit="blocks", name="patterns")), reading)
facts = {"seed": p.seed, "dtype": options["dtype"], "device": device, "population": len(block_of_token)}
words = STORES["patterns/layer_{layer}"]
write(errors, snakemake.output.errors, words, **identity(corpus, weights), **facts, code=p.code)
