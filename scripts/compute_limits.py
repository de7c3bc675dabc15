"""Attention over the whole population of one layer: moments of its output, a few blocks of queries a job."""

import numpy as np
import torch
import xarray as xr

from attnlimit.attention import Heads, choose_device, output_shift
from attnlimit.journal import bar, open_log
from attnlimit.population import atoms, cuts, gather, share
from attnlimit.sampling import generator
from attnlimit.store import identity, read, write
from attnlimit.streaming import Atoms, Pass, limit_blocks

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p = snakemake.params
device = choose_device(p.device)


def counted(numbers, counts):
    return Atoms(lambda cut: gather(snakemake.input.embeddings, p.layer, numbers[cut]), counts)


corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
heads = Heads.of(weights)
population = corpus.sizes["token"]
key_numbers, key_counts = atoms(corpus["token_id"].values, corpus["position"].values, p.layer)
keys = counted(key_numbers, key_counts)
if p.queries == 0:
    queries = keys
else:
    drawn = generator(p.seed, "compute_limits", p.layer).choice(population, p.queries, replace=False)
    queries = counted(np.sort(drawn), np.ones(p.queries))

# Any centre near the tokens will do, and every job must have the same one.
centre = keys.read(slice(0, p.block)).mean(0, dtype=np.float64)  # (feature,)
blocks = cuts(len(queries.counts), p.block)
mine = share(list(range(len(blocks))), p.part, p.parts)
total = len(cuts(len(key_numbers), p.block))


def watch(segments):
    return bar(segments, total=total, unit="key blocks", name="limit")


plan = Pass(heads, centre, p.block, device, p.dtype)
found = list(limit_blocks(queries, keys, [blocks[number] for number in mine], plan, watch))

shift = output_shift(heads, centre)
# A job may have no block at all: reshaped, its arrays still have all dimensions.
vectors, matrices, units = (-1, len(shift)), (-1, len(shift), len(shift)), (-1, len(heads.query_weight) + 1)
limits = xr.Dataset(
    {
        "count": ("block", np.array([part.count for part, _ in found])),
        "mean": (("block", "feature"), np.reshape([part.mean for part, _ in found], vectors)),
        "scatter": (("block", "feature", "feature_2"), np.reshape([part.scatter for part, _ in found], matrices)),
        "fourth_moment": (("block", "unit"), np.reshape([fourth for _, fourth in found], units)),
        "output_shift": ("feature", shift),
        "centre": ("feature", centre),
    },
    coords={"block": mine, "layer": p.layer},
)
sizes = {"population": population, "atoms": len(key_numbers), "queries": int(queries.counts.sum())}
facts = sizes | {"dtype": p.dtype, "device": device, "seed": p.seed}
write(limits, snakemake.output.limits, **identity(corpus, weights), **facts, code=p.code)
