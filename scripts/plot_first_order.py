"""The figure of question first_order."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.first_order.figures import first_order

p = begin(snakemake)
set_theme()

save({"first_order": first_order(read(snakemake.input.rates))}, snakemake.output, p.quick_look)
