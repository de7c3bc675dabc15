"""Join the jobs of one layer's errors, with the couplings of its heads."""

import numpy as np

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.log import report_finding
from attnlimit.base.store import read, write
from attnlimit.questions.heads.about import STORES
from attnlimit.sampling.merging import merge_errors
from attnlimit.theory.geometry import value_variance

p = begin(snakemake)

parts = [read(path) for path in snakemake.input.errors]
limit, geometry = read(snakemake.input.limit), read(snakemake.input.geometry)
value_weight = read(snakemake.input.heads, layer=p.layer)["value_weight"].values.astype(np.float64)
spread = value_variance(value_weight, geometry["token_covariance"].values)  # (head,)
errors = merge_errors(parts, limit, geometry, spread)
mean = heads_only(errors["error"].mean("replicate") / errors["limit_scale"]).sel(statistic="mean").isel(n=-1)  # (head,)
report_finding(
    f"error of the mean at n = {int(mean['n']):,} is {100 * float(mean.median()):.2g} % of its scale (median head)"
)
write(errors, snakemake.output.errors, STORES["errors/layer_{layer}"], **(parts[0].attrs | {"code": p.code}))
