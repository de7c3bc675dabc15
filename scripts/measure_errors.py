"""How far attention on samples of one layer's tokens is from its limit, some groups of replicates a job."""

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads, choose_device, nested_moments, output_shift, project
from attnlimit.base.coordinates import STATISTICS, by_head
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.store import identity, read, write
from attnlimit.questions.heads.about import PARTS
from attnlimit.sampling.errors import limit_is_exact, replicate_errors
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings
device = choose_device(p.device)

limit, weights = read(snakemake.input.limit), read(snakemake.input.heads, layer=p.layer)
heads, centre = Heads.of(weights), limit["centre"].values
how = options["sizes"], options["nested"], options["replacement"]
samples = [draws(limit.attrs["population"], *how, p.seed, p.layer, replicate) for replicate in p.replicates]
drawn = np.unique(np.concatenate([rows for sample in samples for rows, _ in sample]))
pool = project(gather(snakemake.input.embeddings, p.layer, drawn), heads, centre, device, options["dtype"])


def moments_at_sizes(sample):
    for rows, sizes in sample:
        taken = pool.take(torch.as_tensor(np.searchsorted(drawn, rows), device=device))
        yield from nested_moments(taken, sizes)


shown = bar(samples, total=len(samples), unit="replicates", name="errors")
shifted_limit = limit["limit_mean"].values - output_shift(heads, centre), limit["limit_covariance"].values
count = len(heads.query_weight)
measured = replicate_errors(map(moments_at_sizes, shown), *shifted_limit, count, options["group"])

errors = xr.Dataset(
    by_head("error", ("statistic", "head", "replicate", "n"), measured["error"])
    | {
        "mean_difference": (("group", "n", "feature"), measured["mean_difference"]),
        "cov_difference": (("group", "n", "feature", "feature_2"), measured["cov_difference"]),
    },
    coords={
        "statistic": list(STATISTICS),
        "head": weights["head"].values,
        "replicate": p.replicates,
        "n": options["sizes"],
        "group": np.unique(np.array(p.replicates) // options["group"]),
        "layer": p.layer,
    },
)
facts = {"seed": p.seed, "dtype": options["dtype"], "device": device, "population": limit.attrs["population"]}
facts |= {"nested": options["nested"], "replacement": options["replacement"]}
facts["limit_is_exact"] = limit_is_exact(options["replacement"], limit.attrs["queries"], limit.attrs["population"])
words = PARTS["errors/parts/layer_{layer}_part_{part}"]
write(errors, snakemake.output.errors, words, **identity(limit), **facts, code=p.code)
