"""A surrogate for one layer's attention, fitted to the exact outputs of the drawn queries."""

from functools import partial

import torch
import xarray as xr

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.attention.streaming import Pass
from attnlimit.experiments.limits import keys_of
from attnlimit.experiments.surrogate_limits import few_numbers, fitted_surrogate
from attnlimit.log import open_log
from attnlimit.model.population import gather
from attnlimit.store import read, write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p, options = snakemake.params, snakemake.params.settings

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
parts = [read(path) for path in snakemake.input.outputs]
facts, centre = parts[0].attrs, parts[0]["centre"].values
drawn = xr.concat([part.drop_vars("centre") for part in parts], "query")
read_tokens = partial(gather, snakemake.input.embeddings, p.layer)
keys = keys_of(corpus["token_id"].values, corpus["position"].values, p.layer, read_tokens)
few = read_tokens(few_numbers(facts["population"], facts["queries"]))

how = Pass(Heads.of(weights), centre, options["block"], choose_device(p.device), options["dtype"])
fitted = fitted_surrogate(drawn, read_tokens(drawn["query"].values), few, keys, facts["population"], how)
write(fitted.assign_coords(layer=p.layer), snakemake.output.surrogate, **(facts | {"code": p.code}))
