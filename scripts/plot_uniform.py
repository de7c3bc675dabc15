"""The figure of question uniform."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.uniform.figures import uniform

p = begin(snakemake)
set_theme()

save({"uniform": uniform(read(snakemake.input.rates))}, snakemake.output, p.quick_look)
