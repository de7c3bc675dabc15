"""How far attention on runs of neighbouring tokens is from its limit, for one layer and each length of a run."""

from functools import partial

import numpy as np

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.base.job import begin
from attnlimit.base.store import identity, read, write
from attnlimit.questions.contexts.about import PARTS
from attnlimit.questions.contexts.measure import Run, Text, join_runs, require_runs, sample
from attnlimit.sampling.errors import limit_is_exact
from attnlimit.sampling.merging import merge_errors
from attnlimit.sampling.samples import Attention, layer_errors
from attnlimit.sources.model.population import gather
from attnlimit.theory.geometry import value_variance

p = begin(snakemake)
options = p.settings
device, replicates = choose_device(p.device), range(options["replicates"])

text = Text.of(read(snakemake.input.blocks))
runs = [Run.of(name, options["document_run"]) for name in options["runs"]]
require_runs(runs, text)
limit, geometry = read(snakemake.input.limit), read(snakemake.input.geometry)
heads = Heads.of(read(snakemake.input.heads, layer=p.layer))
attention = Attention(heads, limit["centre"].values, device, options["dtype"])
spread = value_variance(heads.value_weight.astype(np.float64), geometry["token_covariance"].values)  # (head,)
read_tokens = partial(gather, snakemake.input.embeddings, p.layer, dtype=None)


def errors_of(run):
    """The store of measure_errors and merge_errors, of one length of a run."""
    sizes = run.sizes(options["sizes"])
    samples = [[(sample(run, sizes[-1], text, p.seed, p.layer, replicate), sizes)] for replicate in replicates]
    part = layer_errors(samples, read_tokens, attention, limit, options["group"], f"runs of {run.name}")
    return merge_errors([part.assign_coords(replicate=replicates)], limit, geometry, spread)


errors = join_runs(runs, [errors_of(run) for run in runs], text).assign_coords(layer=p.layer)
facts = {"seed": p.seed, "dtype": options["dtype"], "device": device, "population": limit.attrs["population"]}
exact = limit_is_exact(True, limit.attrs["queries"], limit.attrs["population"])
facts |= {"nested": True, "replacement": True, "limit_is_exact": exact}
write(errors, snakemake.output.errors, PARTS["contexts/parts/layer_{layer}"], **identity(limit), **facts, code=p.code)
