"""Moments of one layer's surrogate over the whole population, some chunks of it a job."""

from functools import partial

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.attention.streaming import Pass
from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import read, write
from attnlimit.sampling.about import PARTS
from attnlimit.sampling.limits import keys_of
from attnlimit.sampling.surrogate_limits import stored_surrogate, surrogate_part
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
fitted = read(snakemake.input.surrogate)
read_tokens = partial(gather, snakemake.input.embeddings, p.layer)
queries = keys_of(corpus["token_id"].values, corpus["position"].values, p.layer, read_tokens)
device = choose_device(p.device)
how = Pass(Heads.of(weights), fitted["centre"].values, options["block"], device, options["dtype"])
stream = partial(generator, fitted.attrs["seed"], "apply_surrogate", p.layer)
moments = surrogate_part(queries, stored_surrogate(fitted, how), p.part, options["parts"], how, stream)
words = PARTS["limits/applied/layer_{layer}_part_{part}"]
write(moments.assign_coords(layer=p.layer), snakemake.output.moments, words, **(fitted.attrs | {"code": p.code}))
