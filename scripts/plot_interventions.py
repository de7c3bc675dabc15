"""The figures of question interventions."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.interventions.figures import interventions, interventions_tilt

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
figures = {"interventions": interventions(fits, p.level), "interventions_tilt": interventions_tilt(fits, p.level)}
save(figures, snakemake.output, p.quick_look)
