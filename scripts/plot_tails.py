"""The figure of question tails."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.tails.figures import tails

p = begin(snakemake)
set_theme()

save({"tails": tails([read(path) for path in snakemake.input.tails])}, snakemake.output, p.quick_look)
