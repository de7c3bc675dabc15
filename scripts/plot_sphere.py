"""The figures of question sphere."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.sphere.figures import constants, sphere_beta_vs_horizon

p = begin(snakemake)
set_theme()

figures = {
    "sphere_beta_vs_horizon": sphere_beta_vs_horizon(read(snakemake.input.rates)),
    "constants": constants(read(snakemake.input.constants)),
}
save(figures, snakemake.output, p.quick_look)
