"""Join the parts of one layer's limit, block by block in their fixed order."""

import xarray as xr

from attnlimit.errors import sampling_error
from attnlimit.journal import open_log
from attnlimit.moments import Moments, merge_all
from attnlimit.names import WHOLE_LAYER
from attnlimit.store import read, write

open_log(snakemake.log[0])
p = snakemake.params

parts = [read(path) for path in snakemake.input.limits]
shared = parts[0]
joined = xr.concat([part.drop_vars(["output_shift", "centre"]) for part in parts], "block")
whole = merge_all(Moments(*block) for block in zip(*(joined[name].values for name in Moments._fields), strict=True))
fourth = joined["fourth_moment"].sum("block").values
mean_se, cov_se = sampling_error(whole, fourth, shared.attrs["queries"], shared.attrs["population"])

limit = xr.Dataset(
    {
        "mean": ("feature", whole.mean + shared["output_shift"].values),
        "covariance": (("feature", "feature_2"), whole.covariance),
        "mean_se": ("head", mean_se),
        "cov_se": ("head", cov_se),
        "centre": ("feature", shared["centre"].values),
    },
    coords={"layer": p.layer, "head": [*range(len(mean_se) - 1), WHOLE_LAYER]},
)
write(limit, snakemake.output.limit, **(shared.attrs | {"code": p.code}))
