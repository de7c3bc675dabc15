"""Errors of chosen heads of the model whose A is scaled up and down, each against its own exact limit."""

import numpy as np
import torch

from attnlimit.ablation import Plan, Setting, ablate, as_population, require_heads, spread_heads, whole_blocks
from attnlimit.attention import Heads, choose_device
from attnlimit.journal import bar, open_log
from attnlimit.population import gather
from attnlimit.simulation import stack
from attnlimit.store import identity, read, write

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p = snakemake.params
device = choose_device(p.device)

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads)
if isinstance(p.heads, int):
    layers = [read(path, "horizon", "layer") for path in snakemake.input.geometry]
    known = {(int(layer["layer"]), int(head["head"])): float(head) for layer in layers for head in layer["horizon"]}
    chosen = spread_heads(p.heads, known)
else:
    chosen = p.heads
    require_heads(chosen, weights.sizes["layer"], weights.sizes["head"])
settings = [Setting(layer, head, float(alpha)) for layer, head in chosen for alpha in p.scales]
numbers = np.arange(whole_blocks(corpus["block_of_token"].values, p.population))
token_id, position = (corpus[name].values[numbers] for name in ("token_id", "position"))
plan = Plan(p.sizes, p.replicates, p.group, p.nested, p.seed, p.block, device, p.dtype)

kept, layer = [], None
for setting in bar(settings, total=len(settings), unit="settings", name="ablation"):
    if setting.layer != layer:  # settings come layer by layer, and one layer is held at a time
        layer = setting.layer
        heads = Heads.of(weights.sel(layer=layer))
        population = as_population(gather(snakemake.input.embeddings, layer, numbers), token_id, position, layer)
    kept.append(ablate(setting, heads, population, plan))

errors = stack(kept, p.sizes).assign(
    of_layer=("setting", [setting.layer for setting in settings]),
    of_head=("setting", [setting.head for setting in settings]),
    alpha=("setting", [setting.alpha for setting in settings]),
)
facts = {"seed": p.seed, "nested": p.nested, "dtype": p.dtype, "device": device, "population": len(numbers)}
names = [setting.name for setting in settings]
write(errors, snakemake.output.errors, **identity(corpus, weights), settings=names, **facts, code=p.code)
