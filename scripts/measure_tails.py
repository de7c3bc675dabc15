"""Spectrum and tails of the tokens of one layer, along the leading directions of their covariance and of each head."""

import numpy as np
import xarray as xr

from attnlimit.geometry import tilt_matrix
from attnlimit.journal import bar, open_log
from attnlimit.names import WHOLE_LAYER
from attnlimit.population import cuts, gather
from attnlimit.store import identity, read, write
from attnlimit.tails import (
    both_signs,
    leading_eigenvectors,
    merge_all,
    participation_ratio,
    sub_gaussian_constant,
    tails,
    tilt_directions,
    variances,
)

open_log(snakemake.log[0])
p = snakemake.params

corpus, heads = read(snakemake.input.blocks), read(snakemake.input.heads, layer=p.layer)
geometry = read(snakemake.input.geometry)
mean, covariance = geometry["token_mean"].values, geometry["token_covariance"].values
tilts = tilt_matrix(*(heads[name].values.astype(np.float64) for name in ("query_weight", "key_weight")))
of_heads = [tilt_directions(covariance, tilt, p.directions) for tilt in tilts]
directions = np.stack([*of_heads, leading_eigenvectors(covariance, p.directions)])  # (head + 1, direction, feature)
variance = variances(covariance, directions)
standardised = (directions / np.sqrt(variance)[..., None]).reshape(-1, len(mean))

numbers, scales = np.arange(corpus.sizes["token"]), both_signs(p.scales)
blocks = cuts(len(numbers), p.block)
found = merge_all(
    tails((gather(snakemake.input.embeddings, p.layer, numbers[cut]) - mean) @ standardised.T, scales)
    for cut in bar(blocks, total=len(blocks), unit="blocks", name="tails")
)
shape = (*variance.shape, len(scales))
ratio, effective = found.log_mgf_ratio(scales).reshape(shape), found.effective_tokens.reshape(shape)
eigenvalues = np.linalg.eigvalsh(covariance)[::-1].clip(0)

stored = xr.Dataset(
    {
        "eigenvalues": ("feature", eigenvalues),
        "participation_ratio": participation_ratio(eigenvalues),
        "variance": (("head", "direction"), variance),
        "kurtosis": (("head", "direction"), found.kurtosis.reshape(variance.shape)),
        "log_mgf_ratio": (("head", "direction", "scale"), ratio),
        "effective_tokens": (("head", "direction", "scale"), effective),
        "sub_gaussian": ("head", sub_gaussian_constant(ratio, effective, p.effective)),
    },
    coords={
        "head": [*heads["head"].values, WHOLE_LAYER],
        "direction": range(p.directions),
        "scale": scales,
        "layer": p.layer,
    },
)
facts = {"population": len(numbers), "effective": p.effective}
write(stored, snakemake.output.tails, **identity(corpus, heads), **facts, code=p.code)
