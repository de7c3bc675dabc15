"""The figure of question clouds."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.clouds.figures import clouds

p = begin(snakemake)
set_theme()

save({"clouds": clouds(read(snakemake.input.outputs))}, snakemake.output, p.quick_look)
