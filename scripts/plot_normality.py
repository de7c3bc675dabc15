"""The figure of question normality."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.normality.figures import normality

p = begin(snakemake)
set_theme()

save({"normality": normality(read(snakemake.input.rates))}, snakemake.output, p.quick_look)
