"""The figure of question propagation."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.propagation.figures import propagation

p = begin(snakemake)
set_theme()

save({"propagation": propagation(read(snakemake.input.rates), p.tolerance)}, snakemake.output, p.quick_look)
