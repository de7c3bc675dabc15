"""The figure of question contexts."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.contexts.figures import contexts

p = begin(snakemake)
set_theme()

save({"contexts": contexts(read(snakemake.input.rates))}, snakemake.output, p.quick_look)
