"""Attention over the whole population of one layer: moments of its output, a few blocks of queries a job."""

import numpy as np
import torch
import xarray as xr

from attnlimit.attention import (
    Heads,
    Segment,
    choose_device,
    fourth_moment,
    limit_outputs,
    output_moments,
    output_shift,
    project,
)
from attnlimit.journal import bar, open_log
from attnlimit.population import atoms, cuts, gather, share
from attnlimit.sampling import generator
from attnlimit.store import identity, read, write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p = snakemake.params
device = choose_device(p.device)

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
heads = Heads.of(weights)
population = corpus.sizes["token"]
key_numbers, key_counts = atoms(corpus["token_id"].values, corpus["position"].values, p.layer)
key_blocks = cuts(len(key_numbers), p.block)
if p.queries == 0:
    numbers, counts = key_numbers, key_counts
else:
    numbers = np.sort(generator(p.seed, "compute_limits", p.layer).choice(population, p.queries, replace=False))
    counts = np.ones(len(numbers))
blocks = cuts(len(numbers), p.block)
mine = share(list(range(len(blocks))), p.part, p.parts)

# Any centre near the tokens will do, and every job must have the same one.
first = gather(snakemake.input.embeddings, p.layer, key_numbers[key_blocks[0]])
centre = first.mean(0, dtype=np.float64)  # (feature,)


def projected(chosen):
    return project(gather(snakemake.input.embeddings, p.layer, chosen), heads, centre, device, p.dtype)


def segments():
    for cut in key_blocks:
        _, keys, values = projected(key_numbers[cut])
        yield Segment(keys, values, torch.as_tensor(key_counts[cut]).log().to(keys))


queries = [projected(numbers[blocks[block]]).queries for block in mine]
outputs = limit_outputs(queries, bar(segments(), total=len(key_blocks), unit="key blocks", name="limit"))
found, fourth = [], []
for block, output in zip(mine, outputs, strict=True):
    counted = torch.as_tensor(counts[blocks[block]], device=device)
    found.append(output_moments(output, counted))
    fourth.append(fourth_moment(output, counted, found[-1].mean))

shift = output_shift(heads, centre)
vectors, matrices = (-1, len(shift)), (-1, len(shift), len(shift))  # a job may have no block at all
limits = xr.Dataset(
    {
        "count": ("block", np.array([part.count for part in found])),
        "mean": (("block", "feature"), np.reshape([part.mean for part in found], vectors)),
        "scatter": (("block", "feature", "feature_2"), np.reshape([part.scatter for part in found], matrices)),
        "fourth_moment": (("block", "unit"), np.reshape(fourth, (-1, len(heads.query_weight) + 1))),
        "output_shift": ("feature", shift),
        "centre": ("feature", centre),
    },
    coords={"block": mine, "layer": p.layer},
)
sizes = {"population": population, "atoms": len(key_numbers), "queries": int(counts.sum())}
facts = sizes | {"dtype": p.dtype, "device": device, "seed": p.seed}
write(limits, snakemake.output.limits, **identity(corpus, weights), **facts, code=p.code)
