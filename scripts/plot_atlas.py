"""The figures of question atlas."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.atlas.figures import atlas_beyond, atlas_depth, atlas_horizon

p = begin(snakemake)
set_theme()

compared = read(snakemake.input.rates)
figures = {
    "atlas_depth": atlas_depth(compared),
    "atlas_horizon": atlas_horizon(compared),
    "atlas_beyond": atlas_beyond(compared),
}
save(figures, snakemake.output, p.quick_look)
