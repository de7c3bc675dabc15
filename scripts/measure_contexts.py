"""How far attention on runs of neighbouring tokens is from its limit, for one layer and each length of a run."""

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.kernel import Heads, choose_device, nested_moments, output_shift, project
from attnlimit.base.coordinates import STATISTICS, by_head
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.store import identity, read, write
from attnlimit.questions.contexts.about import PARTS
from attnlimit.questions.contexts.measure import Run, Text, join_runs, require_runs, sample
from attnlimit.sampling.errors import limit_is_exact, replicate_errors
from attnlimit.sampling.merging import merge_errors
from attnlimit.sources.model.population import gather
from attnlimit.theory.geometry import value_variance

p = begin(snakemake)
options = p.settings
device, replicates = choose_device(p.device), range(options["replicates"])

text = Text.of(read(snakemake.input.blocks))
runs = [Run.of(name, options["document_run"]) for name in options["runs"]]
require_runs(runs, text)
limit, geometry = read(snakemake.input.limit), read(snakemake.input.geometry)
heads, centre = Heads.of(read(snakemake.input.heads, layer=p.layer)), limit["centre"].values
count = len(heads.query_weight)
shifted_limit = limit["limit_mean"].values - output_shift(heads, centre), limit["limit_covariance"].values
spread = value_variance(heads.value_weight.astype(np.float64), geometry["token_covariance"].values)  # (head,)


def errors_of(run):
    """The store of measure_errors and merge_errors, of one length of a run."""
    sizes = run.sizes(options["sizes"])
    samples = [sample(run, sizes[-1], text, p.seed, p.layer, replicate) for replicate in replicates]
    drawn = np.unique(samples)  # only what this run needs is held
    pool = project(gather(snakemake.input.embeddings, p.layer, drawn), heads, centre, device, options["dtype"])
    shown = bar(samples, total=len(replicates), unit="replicates", name=f"runs of {run.name}")
    taken = (pool.take(torch.as_tensor(np.searchsorted(drawn, rows), device=device)) for rows in shown)
    moments = (nested_moments(tokens, sizes) for tokens in taken)
    measured = replicate_errors(moments, *shifted_limit, count, options["group"])
    part = by_head("error", ("statistic", "head", "replicate", "n"), measured["error"])
    part["mean_difference"] = (("group", "n", "feature"), measured["mean_difference"])
    part["cov_difference"] = (("group", "n", "feature", "feature_2"), measured["cov_difference"])
    labels = {"statistic": list(STATISTICS), "head": range(count), "replicate": replicates, "n": sizes}
    return merge_errors([xr.Dataset(part, coords=labels)], limit, geometry, spread)


errors = join_runs(runs, [errors_of(run) for run in runs], text).assign_coords(layer=p.layer)
facts = {"seed": p.seed, "dtype": options["dtype"], "device": device, "population": limit.attrs["population"]}
exact = limit_is_exact(True, limit.attrs["queries"], limit.attrs["population"])
facts |= {"nested": True, "replacement": True, "limit_is_exact": exact}
write(errors, snakemake.output.errors, PARTS["contexts/parts/layer_{layer}"], **identity(limit), **facts, code=p.code)
