"""Exact outputs of the queries drawn for one layer's limit, some blocks of them a job."""

from functools import partial

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.attention.streaming import Pass
from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import identity, read, write
from attnlimit.sampling.about import PARTS
from attnlimit.sampling.limits import centre_of, keys_of
from attnlimit.sampling.surrogate_limits import draw, marks_of, output_part
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings
device, dtype, block = choose_device(p.device), options["dtype"], options["block"]

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
read_tokens = partial(gather, snakemake.input.embeddings, p.layer)
keys = keys_of(corpus["token_id"].values, corpus["position"].values, p.layer, read_tokens)
stream = generator(p.seed, "compute_limits", p.layer)
drawn = draw(marks_of(corpus["block_of_token"].values), options["queries"], stream)

how = Pass(Heads.of(weights), centre_of(keys, block), block, device, dtype)
outputs = output_part(keys, drawn, read_tokens, p.part, options["parts"], how).assign_coords(layer=p.layer)
facts = {"population": int(drawn.sizes.sum()), "atoms": len(keys.counts), "queries": len(drawn.number)}
facts |= {"dtype": dtype, "device": device, "seed": p.seed}
words = PARTS["limits/outputs/layer_{layer}_part_{part}"]
write(outputs, snakemake.output.outputs, words, **identity(corpus, weights), **facts, code=p.code)
