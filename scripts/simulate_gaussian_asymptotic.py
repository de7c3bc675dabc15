"""Errors on 1e6 to 1e10 Gaussian tokens in d = 1, from counts in bins, and the same from bins twice as wide."""

from zlib import crc32

import numpy as np

from attnlimit.asymptotic import binned_moments, draw_counts, join_pairs, make_bins
from attnlimit.geometry import horizons
from attnlimit.journal import bar, open_log
from attnlimit.limits import gaussian_moments
from attnlimit.simulation import setting_errors, stack
from attnlimit.store import write

open_log(snakemake.log[0])
p = snakemake.params
one, zero = np.ones((1, 1)), np.zeros(1)
names = [f"d=1 H={horizon:.12g}" for horizon in p.horizons]
kept, coarse = [], []

for name, horizon in bar(zip(names, p.horizons, strict=True), total=len(names), unit="horizons", name="asymptotic"):
    narrow_samples, wide_samples = [], []
    for size in p.sizes:
        wide, narrow = make_bins(size, p.bin_width)
        rule, number = "simulate_gaussian_asymptotic", crc32(name.encode())
        counts = draw_counts(size, narrow, p.replicates, p.seed, rule, number)
        narrow_samples.append(binned_moments(counts, narrow, horizon))
        wide_samples.append(binned_moments(join_pairs(counts), wide, horizon))
    limit, couplings = gaussian_moments(zero, one, horizon * one, zero, one), horizons(one, horizon * one)
    kept.append(setting_errors(zip(*narrow_samples, strict=True), *limit, 1.0, couplings, p.group))
    coarse.append(setting_errors(zip(*wide_samples, strict=True), *limit, 1.0, couplings, p.group))

errors, wider = stack(kept, p.sizes), stack(coarse, p.sizes)
errors = errors.assign(mean_wide_bins=wider["mean"], cov_wide_bins=wider["cov"])
for name in ("mean", "cov"):
    moved = errors[f"{name}_wide_bins"].mean("replicate") / errors[name].mean("replicate") - 1
    errors[f"{name}_discretisation"] = np.abs(moved)  # (setting, n): of the expected error, bins twice as wide
write(errors, snakemake.output.errors, settings=names, seed=p.seed, nested=False, bin_width=p.bin_width, code=p.code)
