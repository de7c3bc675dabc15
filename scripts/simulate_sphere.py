"""Errors of attention on tokens uniform on a sphere, at chosen horizons and at the published scales."""

import torch

from attnlimit.attention import choose_device
from attnlimit.journal import bar, open_log
from attnlimit.simulation import stack
from attnlimit.sphere import Plan, choose_settings, simulate, unit_heads
from attnlimit.store import write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p = snakemake.params
device = choose_device(p.device)

heads = unit_heads(p.dimension, p.seed)
settings = choose_settings(heads, p.radius, p.horizons, p.scales)
plan = Plan(p.sizes, p.replicates, p.group, p.nested, p.seed, device, p.dtype)
shown = bar(settings, total=len(settings), unit="settings", name="sphere")
errors = stack([simulate(setting, heads, p.radius, plan) for setting in shown], p.sizes)

write(
    errors,
    snakemake.output.errors,
    settings=[setting.name for setting in settings],
    published=[setting.scale in p.scales for setting in settings],
    dimension=p.dimension,
    radius=p.radius,
    nested=p.nested,
    seed=p.seed,
    dtype=p.dtype,
    device=device,
    code=p.code,
)
