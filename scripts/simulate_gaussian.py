"""Errors on Gaussian tokens at given horizons, isotropic and not, in several dimensions."""

import torch

from attnlimit.attention import choose_device
from attnlimit.gaussian import horizon_settings, simulate
from attnlimit.journal import bar, open_log
from attnlimit.simulation import setting_errors, stack
from attnlimit.store import write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p = snakemake.params
device = choose_device(p.device)

settings = horizon_settings(p.dimensions, p.condition, p.scales, p.seed)
kept = []
for setting in bar(settings, total=len(settings), unit="settings", name="gaussian"):
    samples = simulate(setting, p.sizes, p.replicates, p.nested, p.seed, "simulate_gaussian", device, p.dtype)
    kept.append(setting_errors(samples, *setting.limit(), setting.value_variance(), setting.couplings(), p.group))

errors = stack(kept, p.sizes).assign(
    dimension=("setting", [len(setting.variances) for setting in settings]),
    isotropic=("setting", [bool((setting.variances == 1).all()) for setting in settings]),
)
names = [setting.name for setting in settings]
facts = {"seed": p.seed, "nested": p.nested, "dtype": p.dtype, "device": device}
write(errors, snakemake.output.errors, settings=names, **facts, code=p.code)
