"""Errors of all heads of a layer, as they are and with horizon or constant tilt changed, each against its limit."""

import numpy as np

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.base.job import begin
from attnlimit.base.store import identity, read, write
from attnlimit.questions.interventions.about import STORES
from attnlimit.questions.interventions.measure import Population, intervene, variants_of, whole_blocks
from attnlimit.sampling.protocol import Protocol
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
numbers = np.arange(whole_blocks(corpus["block_of_token"].values, options["population"]))
token_id, position = (corpus[name].values[numbers] for name in ("token_id", "position"))
population = Population.of(gather(snakemake.input.embeddings, p.layer, numbers), token_id, position)
protocol = Protocol.of(options, p.seed, choose_device(p.device))
variants = variants_of(options["horizon_factors"], options["tilt_factors"])
errors = intervene(Heads.of(weights), population, p.layer, variants, p.block, protocol)
facts = protocol.facts() | {"population": len(numbers), "replacement": True, "limit_is_exact": True}
words = STORES["interventions/layer_{layer}"]
write(errors, snakemake.output.errors, words, **identity(corpus, weights), **facts, code=p.code)
