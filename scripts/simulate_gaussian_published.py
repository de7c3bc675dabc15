"""Errors on Gaussian tokens in the published grid, against the closed form and against a finite sample."""

import torch

from attnlimit.attention import choose_device
from attnlimit.gaussian import finite_reference, published_settings, simulate
from attnlimit.journal import bar, open_log
from attnlimit.simulation import setting_errors, stack
from attnlimit.store import write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p = snakemake.params
device = choose_device(p.device)
rule = "simulate_gaussian_published"

settings = published_settings(p.dimension, p.variance, p.scales, p.seed)
kept = []
for setting in bar(settings, total=len(settings), unit="settings", name="published"):
    samples = list(simulate(setting, p.sizes, p.replicates, p.nested, p.seed, rule, device, p.dtype))
    for reference in p.references:
        if reference == "exact":
            compared = setting.limit()
        else:
            compared = finite_reference(setting, p.reference_tokens, p.seed, rule, device, p.dtype)
        kept.append(setting_errors(samples, *compared, setting.value_variance(), setting.couplings(), p.group))

errors = stack(kept, p.sizes).assign(
    scale=("setting", [scale for scale in p.scales for _ in p.references]),
    exact=("setting", [reference == "exact" for _ in p.scales for reference in p.references]),
)
names = [f"{setting.name} {reference}" for setting in settings for reference in p.references]
facts = {"seed": p.seed, "nested": p.nested, "dtype": p.dtype, "device": device}
write(errors, snakemake.output.errors, settings=names, reference_tokens=p.reference_tokens, **facts, code=p.code)
