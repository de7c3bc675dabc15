"""Errors of chosen heads of the model, A or the constant tilt scaled up and down, each against its own exact limit."""

from functools import lru_cache, partial

import numpy as np

from attnlimit.attention.kernel import Heads, choose_device
from attnlimit.base.job import begin
from attnlimit.base.store import identity, read, write
from attnlimit.questions.ablation.about import STORES
from attnlimit.questions.ablation.measure import (
    Layer,
    as_population,
    chosen_settings,
    errors_of,
    require_heads,
    spread_heads,
    whole_blocks,
)
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads)
if isinstance(options["heads"], int):
    layers = [read(path, "horizon", "layer") for path in snakemake.input.geometry]
    known = {(int(layer["layer"]), int(head["head"])): float(head) for layer in layers for head in layer["horizon"]}
    chosen = spread_heads(options["heads"], known)
else:
    chosen = options["heads"]
    require_heads(chosen, weights.sizes["layer"], weights.sizes["head"])
settings = chosen_settings(chosen, options["scales"], options["tilt_factors"])
numbers = np.arange(whole_blocks(corpus["block_of_token"].values, options["population"]))
token_id, position = (corpus[name].values[numbers] for name in ("token_id", "position"))


@lru_cache(maxsize=1)  # settings come layer by layer, and one layer is held at a time
def layer_of(number: int) -> Layer:
    population = as_population(gather(snakemake.input.embeddings, number, numbers), token_id, position, number)
    return Layer(Heads.of(weights.sel(layer=number)), population, p.block)


protocol = Protocol.of(options, p.seed, choose_device(p.device))
errors = measure_settings(settings, partial(errors_of, layer_of=layer_of), protocol, "ablation")
facts = protocol.facts() | {"population": len(numbers)}
write(errors, snakemake.output.errors, STORES["ablation/errors"], **identity(corpus, weights), **facts, code=p.code)
