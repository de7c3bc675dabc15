"""Join the parts of one layer's limit, block by block in their fixed order."""

import xarray as xr

from attnlimit.journal import open_log
from attnlimit.moments import Moments, merge_all
from attnlimit.store import identity, read, write

open_log(snakemake.log[0])
p = snakemake.params

parts = [read(path) for path in snakemake.input.limits]
blocks = [
    Moments(*(part[name].values[i] for name in Moments._fields)) for part in parts for i in range(part.sizes["block"])
]
whole = merge_all(blocks)
first = parts[0]

limit = xr.Dataset(
    {
        "mean": ("feature", whole.mean + first["output_shift"].values),
        "covariance": (("feature", "feature_2"), whole.covariance),
        "centre": ("feature", first["centre"].values),
    },
    coords={"layer": p.layer},
)
write(
    limit,
    snakemake.output.limit,
    **identity(first),
    population=int(whole.count),
    dtype=first.attrs["dtype"],
    code=p.code,
)
