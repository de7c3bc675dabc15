"""Join the jobs of one layer's errors, and condense the differences to what bias and fluctuation need."""

import numpy as np
import xarray as xr

from attnlimit.errors import group_gram, limit_scale
from attnlimit.journal import open_log
from attnlimit.names import STATISTICS
from attnlimit.store import read, write

open_log(snakemake.log[0])
p = snakemake.params

parts = [read(path) for path in snakemake.input.errors]
limit = read(snakemake.input.limit)
raw = xr.concat([part[list(STATISTICS)] for part in parts], "replicate")
heads = raw.sizes["head"] - 1

condensed = {}
for name in ("mean", "cov"):
    differences = np.concatenate([part[f"{name}_difference"].values for part in parts])  # (group, n, feature, …)
    condensed[f"{name}_gram"] = (("head", "n", "group", "group_2"), group_gram(differences, heads))
    features = ("feature", "feature_2")[: differences.ndim - 2]
    condensed[f"{name}_difference"] = (("n", *features), differences.mean(0, dtype=np.float64))
scales = limit_scale(limit["mean"].values, limit["covariance"].values, heads)
condensed |= {f"{name}_scale": ("head", scale) for name, scale in scales.items()}
write(raw.assign(condensed), snakemake.output.errors, **(parts[0].attrs | {"code": p.code}))
