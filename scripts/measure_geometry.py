"""Mean and covariance of the tokens of one layer, and the coupling of each head to them."""

import numpy as np
import xarray as xr

from attnlimit.base.job import begin
from attnlimit.base.log import bar, report_finding
from attnlimit.base.parts import cuts
from attnlimit.base.store import identity, read, write
from attnlimit.sampling.about import STORES
from attnlimit.sources.model.population import gather
from attnlimit.theory.geometry import constant_tilt, horizon_published, horizons, tilt_bias, tilt_matrix
from attnlimit.theory.moments import merge_all, moments

p = begin(snakemake)

corpus, heads = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
numbers = np.arange(corpus.sizes["token"])
tokens = merge_all(
    moments(gather(snakemake.input.embeddings, p.layer, numbers[cut])) for cut in cuts(len(numbers), p.block)
)
names = ("query_weight", "key_weight", "query_bias")
query_weight, key_weight, query_bias = (heads[name].values.astype(np.float64) for name in names)

tilts = tilt_matrix(query_weight, key_weight)  # (head, feature, feature)
coupling = [horizons(tokens.covariance, tilt) for tilt in bar(tilts, total=len(tilts), unit="heads", name="horizons")]
biases = map(tilt_bias, query_bias, key_weight)  # (feature,) each
constant_tilts = [constant_tilt(tokens.mean, tokens.covariance, *pair) for pair in zip(tilts, biases, strict=True)]

geometry = xr.Dataset(
    {name: ("head", np.array([head[name] for head in coupling])) for name in coupling[0]}
    | {
        "constant_tilt": ("head", np.array(constant_tilts)),
        "horizon_published": horizon_published(tokens.covariance, query_weight, key_weight),
        "token_mean": ("feature", tokens.mean),
        "token_covariance": (("feature", "feature_2"), tokens.covariance),
    },
    coords={"head": heads["head"].values, "layer": p.layer},
)
report_finding("horizons H from {:.2g} to {:.2g}".format(*geometry["horizon"].quantile([0, 1]).values))
words = STORES["geometry/layer_{layer}"]
write(geometry, snakemake.output.geometry, words, **identity(corpus, heads), population=len(numbers), code=p.code)
