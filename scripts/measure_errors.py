"""How far attention on samples of one layer's tokens is from its limit, some groups of replicates a job."""

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads, choose_device, nested_moments, output_shift, project
from attnlimit.coordinates import STATISTICS, WHOLE_LAYER
from attnlimit.experiments.errors import measure
from attnlimit.log import bar, open_log
from attnlimit.model.population import gather
from attnlimit.store import identity, read, write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p, options = snakemake.params, snakemake.params.settings
device = choose_device(p.device)

limit, weights = read(snakemake.input.limit), read(snakemake.input.heads, layer=p.layer)
heads, centre = Heads.of(weights), limit["centre"].values
how = options["sizes"], options["nested"], options["replacement"]
plans = [draws(limit.attrs["population"], *how, p.seed, p.layer, replicate) for replicate in p.replicates]
drawn = np.unique(np.concatenate([rows for plan in plans for rows, _ in plan]))
pool = project(gather(snakemake.input.embeddings, p.layer, drawn), heads, centre, device, options["dtype"])


def moments_at_sizes(plan):
    for rows, sizes in plan:
        sample = pool.take(torch.as_tensor(np.searchsorted(drawn, rows), device=device))
        yield from nested_moments(sample, sizes)


samples = (moments_at_sizes(plan) for plan in bar(plans, total=len(plans), unit="replicates", name="errors"))
shifted_mean = limit["mean"].values - output_shift(heads, centre)
measured = measure(samples, shifted_mean, limit["covariance"].values, len(heads.query_weight), options["group"])

errors = xr.Dataset(
    {name: (("head", "replicate", "n"), measured[name]) for name in STATISTICS}
    | {
        "mean_difference": (("group", "n", "feature"), measured["mean_difference"]),
        "cov_difference": (("group", "n", "feature", "feature_2"), measured["cov_difference"]),
    },
    coords={
        "head": [*weights["head"].values, WHOLE_LAYER],
        "replicate": p.replicates,
        "n": options["sizes"],
        "group": np.unique(np.array(p.replicates) // options["group"]),
        "layer": p.layer,
    },
)
facts = {
    "seed": p.seed,
    "nested": options["nested"],
    "replacement": options["replacement"],
    "dtype": options["dtype"],
    "device": device,
}
write(
    errors,
    snakemake.output.errors,
    **identity(limit),
    **facts,
    population=limit.attrs["population"],
    code=p.code,
)
