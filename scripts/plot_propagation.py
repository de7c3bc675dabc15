"""The figure of question propagation."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.propagation.figures import propagation, propagation_gain

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
figures = {
    "propagation": propagation(fits, p.quadrature_tolerance),
    "propagation_gain": propagation_gain(fits, p.depth_tolerance),
}
save(figures, snakemake.output, p.quick_look)
