"""Largest distance between attention on n Gaussian tokens and its limit over balls, on a line and in a plane."""

import numpy as np
import xarray as xr

from attnlimit.journal import bar, open_log
from attnlimit.store import write
from attnlimit.uniform import Grid, edge_deviation, limit_suprema, replicate

open_log(snakemake.log[0])
p = snakemake.params

grid = Grid(p.step, p.angles)
kept = np.full((3, 2, len(p.radii), p.replicates, len(p.sizes)), np.nan)  # (quantity, dimension, radius, replicate, n)
plan = [
    (dimension, i, number)
    for dimension in (1, 2)
    for i, size in enumerate(p.sizes)
    if dimension == 1 or size <= p.largest_in_plane
    for number in range(p.replicates)
]
for dimension, i, number in bar(plan, total=len(plan), unit="samples", name="uniform"):
    found = replicate(p.seed, dimension, p.sizes[i], number, p.radii, grid)
    kept[:, dimension - 1, :, number, i] = [found[name] for name in ("sup", "sup_coarse", "effective")]

settings = [(dimension, radius) for dimension in (1, 2) for radius in p.radii]
limit = [limit_suprema(p.seed, dimension, p.limit_draws, p.radii, grid) for dimension in (1, 2)]
limit = np.concatenate(limit, axis=1)  # (draw, setting)
raw = kept.reshape(3, len(settings), p.replicates, len(p.sizes))
suprema = xr.Dataset(
    {
        "sup": (("setting", "replicate", "n"), raw[0]),
        "sup_coarse": (("setting", "replicate", "n"), raw[1]),
        "effective": (("setting", "replicate", "n"), raw[2]),
        "dimension": ("setting", [dimension for dimension, _ in settings]),
        "radius": ("setting", [float(radius) for _, radius in settings]),
        "clt_edge": ("setting", [edge_deviation(radius, dimension) for dimension, radius in settings]),
        "clt_sup": ("setting", limit.mean(0)),
        "clt_sup_se": ("setting", limit.std(0) / np.sqrt(p.limit_draws)),
    },
    coords={"setting": range(len(settings)), "replicate": range(p.replicates), "n": p.sizes},
)
names = [f"d = {dimension}, R = {radius:g}" for dimension, radius in settings]
write(suprema, snakemake.output.suprema, settings=names, seed=p.seed, step=p.step, angles=p.angles, code=p.code)
