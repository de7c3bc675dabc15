"""What a single token does to the mean and the covariance of a layer's outputs, from the outputs of its limit."""

from functools import partial

import numpy as np

from attnlimit.attention.kernel import Heads, choose_device, output_shift
from attnlimit.attention.streaming import Atoms, Pass
from attnlimit.base.job import begin
from attnlimit.base.log import counted, report_finding
from attnlimit.base.seeds import generator
from attnlimit.base.store import identity, read, write
from attnlimit.questions.first_order.about import STORES
from attnlimit.questions.first_order.measure import Limit, constants
from attnlimit.sampling.limits import drawn_queries, keys_of
from attnlimit.sources.model.population import gather

ATTENDED = ("output", "total", "stands_for")  # of the queries of the limit

p = begin(snakemake)
options, of_limit = p.settings, p.limit
device = choose_device(p.device)

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
limit, parts = read(snakemake.input.limit), [read(path, *ATTENDED) for path in snakemake.input.attended]
outputs, totals, stands_for = (np.concatenate([part[name].values for part in parts]) for name in ATTENDED)
read_tokens = partial(gather, snakemake.input.embeddings, p.layer)
keys = queries = keys_of(corpus["token_id"].values, corpus["position"].values, p.layer, read_tokens)
if of_limit["queries"] and "query" in parts[0].coords:
    number = np.concatenate([part["query"].values for part in parts])
    queries = Atoms(lambda cut: read_tokens(number[cut]), stands_for)
elif of_limit["queries"]:
    stream = generator(p.seed, "compute_limits", p.layer)
    again = drawn_queries(limit.attrs["population"], of_limit["queries"], read_tokens, stream)
    queries = Atoms(again.read, stands_for * limit.attrs["population"] / stands_for.sum())

how = Pass(Heads.of(weights), limit["centre"].values, of_limit["block"], device, options["dtype"])
mean = limit["limit_mean"].values - output_shift(how.heads, how.centre)
pass_ = Limit(keys, queries, outputs, totals, mean, limit["limit_covariance"].values, how)
found = constants(pass_, options, generator(p.seed, "measure_first_order", p.layer)).assign_coords(layer=p.layer)
kappa = found["kappa"].values[:-1]
report_finding(f"{counted(len(kappa), 'head')}, κ from {kappa.min():.1f} to {kappa.max():,.1f}")
facts = {name: limit.attrs[name] for name in ("population", "queries")} | {"seed": p.seed, "device": device}
words = STORES["first_order/layer_{layer}"]
write(found, snakemake.output.constants, words, **identity(limit), **facts, dtype=options["dtype"], code=p.code)
