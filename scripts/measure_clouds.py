"""Outputs of a weak and a strong head on samples of a few sizes and in the limit, for a picture."""

import numpy as np
import xarray as xr

from attnlimit.attention.kernel import Heads, Segment, choose_device, limit_states, project, project_keys
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import cuts
from attnlimit.base.seeds import generator
from attnlimit.base.store import identity, read, write
from attnlimit.questions.clouds.about import STORES
from attnlimit.questions.clouds.measure import as_rows, chosen_heads, in_leading_plane, outputs_at, tsne_map
from attnlimit.sources.model.population import gather

p = begin(snakemake)
options = p.settings
device, sizes = choose_device(p.device), options["sizes"]

weights, layers = read(snakemake.input.heads), [read(path) for path in snakemake.input.geometry]
geometry = {int(layer["layer"]): layer for layer in layers}
population = layers[0].attrs["population"]
horizons = {(layer, int(head["head"])): float(head) for layer in geometry for head in geometry[layer]["horizon"]}
chosen = chosen_heads(options["heads"], horizons)


def clouds_of(layer, head):
    """Outputs (cloud, token, width) of one head, the limit last."""
    one = Heads(*(part[[head]] for part in Heads.of(weights.sel(layer=layer))))
    how = one, geometry[layer]["token_mean"].values, device, options["dtype"]
    rows = generator(p.seed, "measure_clouds", layer, head).integers(population, size=sizes[-1])
    drawn, place = np.unique(rows, return_inverse=True)
    tokens = project(gather(snakemake.input.embeddings, layer, drawn)[place], *how)
    read_keys = (
        gather(snakemake.input.embeddings, layer, np.arange(population)[cut]) for cut in cuts(population, p.block)
    )
    (limit,) = limit_states([tokens.queries], (Segment(*project_keys(keys, *how)) for keys in read_keys))
    return np.stack([*(outputs_at(tokens, size) for size in sizes), as_rows(limit.output)])


clouds = [clouds_of(*head) for head in bar(chosen, total=len(chosen), unit="heads", name="clouds")]
some = slice(options["mapped"])  # the draw is in random order
maps = [tsne_map(each[:, some], options["perplexity"], p.seed) for each in clouds]
outputs = xr.Dataset(
    {
        "plane": (("setting", "cloud", "point", "axis"), np.stack([in_leading_plane(each) for each in clouds])),
        "tsne": (("setting", "cloud", "mapped", "axis"), np.stack(maps)),
        "horizon": ("setting", [horizons[head] for head in chosen]),
        "of_layer": ("setting", [layer for layer, _ in chosen]),
        "of_head": ("setting", [head for _, head in chosen]),
    },
    coords={"cloud": [*map(str, sizes), "limit"]},
)
facts = {"seed": p.seed, "dtype": options["dtype"], "device": device, "population": population}
write(outputs, snakemake.output.outputs, STORES["clouds/outputs"], **identity(layers[0], weights), **facts, code=p.code)
