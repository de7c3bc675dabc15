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
limit, geometry = read(snakemake.input.limit), read(snakemake.input.geometry)
value_weight = read(snakemake.input.heads, layer=p.layer)["value_weight"].values.astype(np.float64)
raw = xr.concat([part[list(STATISTICS)] for part in parts], "replicate")
heads = len(value_weight)

condensed = {}
for name in ("mean", "cov"):
    differences = np.concatenate([part[f"{name}_difference"].values for part in parts])  # (group, n, feature, …)
    condensed[f"{name}_gram"] = (("head", "n", "group", "group_2"), group_gram(differences, heads))
    features = ("feature", "feature_2")[: differences.ndim - 2]
    condensed[f"{name}_difference"] = (("n", *features), differences.mean(0, dtype=np.float64))
spread = value_weight @ geometry["token_covariance"].values  # (head, width, feature)
value_variance = (spread * value_weight).sum((1, 2))  # tr W_v Sigma W_v^T
scales = limit_scale(value_variance, limit["covariance"].values, heads)
condensed |= {f"{name}_scale": ("head", scale) for name, scale in scales.items()}
limit_se = {"mean": limit["mean_se"], "cov": limit["cov_se"], "cov_spectral": limit["cov_se"]}  # the last: at most this
condensed |= {f"{name}_limit_se": ("head", se.values) for name, se in limit_se.items()}
write(raw.assign(condensed), snakemake.output.errors, **(parts[0].attrs | {"code": p.code}))
