"""Attention over the whole population of one layer: moments of its output, a few blocks of queries a job."""

import numpy as np
import torch
import xarray as xr

from attnlimit.attention import Heads, Segment, choose_device, limit_moments, output_shift, project
from attnlimit.journal import bar, open_log
from attnlimit.population import atoms, cuts, gather, share
from attnlimit.store import identity, read, write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p = snakemake.params
device = choose_device(p.device)

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
heads = Heads.of(weights)
numbers, counts = atoms(corpus["token_id"].values, corpus["position"].values, p.layer)
blocks = cuts(len(numbers), p.block)
mine = share(list(range(len(blocks))), p.part, p.parts)


def tokens(cut):
    return gather(snakemake.input.embeddings, p.layer, numbers[cut])


# Any centre near the tokens will do, and every job must have the same one.
centre = tokens(blocks[0]).mean(0, dtype=np.float64)  # (feature,)


def segments():
    for cut in blocks:
        projected = project(tokens(cut), heads, centre, device, p.dtype)
        yield Segment(projected.keys, projected.values, torch.as_tensor(counts[cut]).log().to(projected.keys))


queries = [project(tokens(blocks[block]), heads, centre, device, p.dtype).queries for block in mine]
query_counts = [torch.as_tensor(counts[blocks[block]], device=device) for block in mine]
found = limit_moments(queries, query_counts, bar(segments(), total=len(blocks), unit="key blocks", name="limit"))

limits = xr.Dataset(
    {
        "count": ("block", np.array([part.count for part in found])),
        "mean": (("block", "feature"), np.stack([part.mean for part in found])),
        "scatter": (("block", "feature", "feature_2"), np.stack([part.scatter for part in found])),
        "output_shift": ("feature", output_shift(heads, centre)),
        "centre": ("feature", centre),
    },
    coords={"block": mine, "layer": p.layer},
)
write(
    limits,
    snakemake.output.limits,
    **identity(corpus, weights),
    atoms=len(numbers),
    dtype=p.dtype,
    device=device,
    code=p.code,
)
