"""The figure of question hardmax."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.hardmax.figures import hardmax

p = begin(snakemake)
set_theme()

save({"hardmax": hardmax(read(snakemake.input.rates))}, snakemake.output, p.quick_look)
