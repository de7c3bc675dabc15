"""Mean and covariance of the tokens of one layer, and the coupling of each head to them."""

import numpy as np
import xarray as xr

from attnlimit.log import bar, open_log
from attnlimit.model.population import gather
from attnlimit.parts import cuts
from attnlimit.store import identity, read, write
from attnlimit.theory.geometry import horizon_published, horizons, tilt_matrix
from attnlimit.theory.moments import merge_all, moments

open_log(snakemake.log[0])
p = snakemake.params

corpus, heads = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
numbers = np.arange(corpus.sizes["token"])
tokens = merge_all(
    moments(gather(snakemake.input.embeddings, p.layer, numbers[cut])) for cut in cuts(len(numbers), p.block)
)
query_weight, key_weight = (heads[name].values.astype(np.float64) for name in ("query_weight", "key_weight"))

tilts = tilt_matrix(query_weight, key_weight)  # (head, feature, feature)
coupling = [horizons(tokens.covariance, tilt) for tilt in bar(tilts, total=len(tilts), unit="heads", name="horizons")]

geometry = xr.Dataset(
    {name: ("head", np.array([head[name] for head in coupling])) for name in coupling[0]}
    | {
        "horizon_published": horizon_published(tokens.covariance, query_weight, key_weight),
        "token_mean": ("feature", tokens.mean),
        "token_covariance": (("feature", "feature_2"), tokens.covariance),
    },
    coords={"head": heads["head"].values, "layer": p.layer},
)
write(geometry, snakemake.output.geometry, **identity(corpus, heads), population=len(numbers), code=p.code)
