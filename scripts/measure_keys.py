"""First order and errors of drawn keys of every head, for the windows of one job."""

from pathlib import Path

from attnlimit.attention.kernel import choose_device
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import share
from attnlimit.base.store import identity, read, write
from attnlimit.questions.keys.about import PARTS
from attnlimit.questions.keys.measure import Reading, joined, measure_window, require_window
from attnlimit.sources.model.decoder import load_decoder
from attnlimit.sources.model.files import require_as_fetched

p = begin(snakemake)
options = p.settings

windows, heads = read(snakemake.input.windows), read(snakemake.input.heads)
model_files = snakemake.input.config, snakemake.input.weights
require_as_fetched(model_files, heads.attrs["model"]["sha256"], windows.attrs["tokenizer_sha256"])
model, _ = load_decoder(Path(snakemake.input.weights).parent)
model = model.to(choose_device(p.device))
reading = Reading.of(options, p.seed)
require_window(model, reading)
mine = share(windows["window"].values.tolist(), p.part, options["parts"])
tokens = windows["token_id"].values[:, : reading.contexts[-1]]
passes = bar(mine, len(mine), unit="windows", name="keys")
errors = joined([measure_window(model, tokens[number], reading, p.layers, number) for number in passes], mine)
errors = errors.assign_coords(title=("window", windows["title"].values[mine]))
facts = {"windows": windows.sizes["window"], "population": windows.attrs["population"], "context": reading.context}
facts |= {"kept": reading.kept.by_protocol(), "dtype": "float32", "seed": p.seed}
words = PARTS["keys/parts/part_{part}"]
write(errors, snakemake.output.errors, words, **identity(windows, heads), **facts, code=p.code)
