"""A surrogate for one layer's attention, fitted to the exact outputs of the drawn queries."""

from functools import partial

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.attention.streaming import Pass
from attnlimit.base.job import begin
from attnlimit.base.store import read, write
from attnlimit.sampling.about import PARTS
from attnlimit.sampling.limits import keys_of
from attnlimit.sampling.surrogate_limits import fitted_surrogate, joined_outputs
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
outputs, drawn = joined_outputs([read(path) for path in snakemake.input.outputs])
read_tokens = partial(gather, snakemake.input.embeddings, p.layer)
keys = keys_of(corpus["token_id"].values, corpus["position"].values, p.layer, read_tokens)

device = choose_device(p.device)
how = Pass(Heads.of(weights), outputs["centre"].values, options["block"], device, options["dtype"])
fitted = fitted_surrogate(outputs["output"].values, drawn, keys, read_tokens, how)
words = PARTS["limits/surrogate/layer_{layer}"]
write(fitted.assign_coords(layer=p.layer), snakemake.output.surrogate, words, **(outputs.attrs | {"code": p.code}))
