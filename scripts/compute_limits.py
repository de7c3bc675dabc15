"""Attention over the whole population of one layer: moments of its output, a few blocks of queries a job."""

from functools import partial

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.attention.streaming import Pass
from attnlimit.base.job import begin
from attnlimit.base.parts import cuts, share
from attnlimit.base.seeds import generator
from attnlimit.base.store import identity, read, write
from attnlimit.sampling.about import PARTS
from attnlimit.sampling.limits import centre_of, drawn_queries, keys_of, limit_part
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings
device, dtype, block = choose_device(p.device), options["dtype"], options["block"]

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
tokens = corpus["token_id"].values, corpus["position"].values
read_tokens = partial(gather, snakemake.input.embeddings, p.layer)
keys = queries = keys_of(*tokens, p.layer, read_tokens)
if options["queries"]:
    stream = generator(p.seed, "compute_limits", p.layer)
    queries = drawn_queries(len(tokens[0]), options["queries"], read_tokens, stream)

how = Pass(Heads.of(weights), centre_of(keys, block), block, device, dtype)
mine = share(list(range(len(cuts(len(queries.counts), block)))), p.part, options["parts"])
limits = limit_part(keys, queries, mine, how).assign_coords(layer=p.layer)
sizes = {"population": len(tokens[0]), "atoms": len(keys.counts), "queries": int(queries.counts.sum())}
facts = sizes | {"dtype": dtype, "device": device, "seed": p.seed}
words = PARTS["limits/parts/layer_{layer}_part_{part}"]
write(limits, snakemake.output.limits, words, **identity(corpus, weights), **facts, code=p.code)
