"""Attention on n Gaussian tokens at one query, many times: is it normal, and does it know its own error?"""

import numpy as np
import xarray as xr

from attnlimit.journal import bar, open_log
from attnlimit.normality import COORDINATES, LEVEL, replicate, summary
from attnlimit.store import write

open_log(snakemake.log[0])
p = snakemake.params

shape = (len(p.tilts), len(p.sizes), p.replicates)
output, plug_in = np.empty((*shape, 2)), np.empty((*shape, 2, 2))
effective, log_mean = np.empty(shape), np.empty(shape)
plan = [(i, number) for i in range(len(p.sizes)) for number in range(p.replicates)]
for i, number in bar(plan, total=len(plan), unit="samples", name="normality"):
    for setting, found in enumerate(replicate(p.seed, p.sizes[i], number, p.tilts)):
        here = (setting, i, number)
        output[here], plug_in[here], effective[here], log_mean[here] = found

tilt = np.array(p.tilts, dtype=float)
limit = np.stack([tilt, 0 * tilt], -1)[:, None, None]  # Gamma(x) = Sigma t = t
place = ("setting", "n", "replicate")
raw = xr.Dataset(
    {
        "deviation": ((*place, "coordinate"), np.sqrt(p.sizes)[:, None, None] * (output - limit)),
        "plug_in": ((*place, "coordinate", "coordinate_2"), plug_in),
        "effective": (place, effective),
        "mass": (place, np.exp(log_mean - tilt[:, None, None] ** 2 / 2)),  # K(t) = |t|^2 / 2
        "tilt": ("setting", tilt),
    },
    coords={"setting": range(len(tilt)), "n": p.sizes, "replicate": range(p.replicates), "coordinate": range(2)},
)
write(
    raw.merge(summary(raw)),
    snakemake.output.normality,
    settings=[f"|t| = {number:g}" for number in p.tilts],
    coordinates=list(COORDINATES),
    level=LEVEL,
    seed=p.seed,
    code=p.code,
)
