"""The figure of question patterns."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.patterns.figures import patterns

p = begin(snakemake)
set_theme()

save({"patterns": patterns(read(snakemake.input.rates))}, snakemake.output, p.quick_look)
