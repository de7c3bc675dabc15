"""How far attention on samples of one layer's tokens is from its limit, some groups of replicates a job."""

from functools import partial

import numpy as np

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.base.job import begin
from attnlimit.base.store import identity, read, write
from attnlimit.questions.heads.about import PARTS
from attnlimit.sampling.errors import limit_is_exact
from attnlimit.sampling.samples import Attention, layer_errors
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings
device = choose_device(p.device)

limit, weights = read(snakemake.input.limit), read(snakemake.input.heads, layer=p.layer)
attention = Attention(Heads.of(weights), limit["centre"].values, device, options["dtype"])
how = options["sizes"], options["nested"], options["replacement"]
samples = [draws(limit.attrs["population"], *how, p.seed, p.layer, replicate) for replicate in p.replicates]
read_tokens = partial(gather, snakemake.input.embeddings, p.layer, dtype=None)
errors = layer_errors(samples, read_tokens, attention, limit, options["group"], "errors")
groups = np.unique(np.array(p.replicates) // options["group"])
errors = errors.assign_coords(replicate=p.replicates, group=groups, layer=p.layer)
facts = {"seed": p.seed, "dtype": options["dtype"], "device": device, "population": limit.attrs["population"]}
facts |= {"nested": options["nested"], "replacement": options["replacement"]}
facts["limit_is_exact"] = limit_is_exact(options["replacement"], limit.attrs["queries"], limit.attrs["population"])
words = PARTS["errors/parts/layer_{layer}_part_{part}"]
write(errors, snakemake.output.errors, words, **identity(limit), **facts, code=p.code)
