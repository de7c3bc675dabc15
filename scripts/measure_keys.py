"""First order and errors of drawn keys of every head, for the windows of one job."""

from attnlimit.base.job import begin
from attnlimit.base.store import write
from attnlimit.questions.keys.about import PARTS
from attnlimit.questions.keys.measure import Reading, measure_window, require_window
from attnlimit.sampling.windows import open_windows, over_windows

p = begin(snakemake)

model, windows, facts = open_windows(snakemake.input, p.device, p.part, p.settings["parts"])
reading = Reading.of(p.settings, p.seed)
require_window(model, reading)
errors = over_windows(
    lambda tokens, number: measure_window(model, tokens, reading, p.layers, number),
    windows,
    reading.contexts[-1],
    "keys",
)
facts |= {"context": reading.context, "kept": reading.kept.by_protocol(), "seed": p.seed}
write(errors, snakemake.output.errors, PARTS["keys/parts/part_{part}"], **facts, code=p.code)
