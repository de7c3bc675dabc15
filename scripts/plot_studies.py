"""The figures of question studies."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.studies.figures import studies_heads, studies_horizon, studies_shared_noise

p = begin(snakemake)
set_theme()

compared = read(snakemake.input.rates)
figures = {
    "studies_horizon": studies_horizon(compared),
    "studies_heads": studies_heads(compared),
    "studies_shared_noise": studies_shared_noise(compared),
}
save(figures, snakemake.output, p.quick_look)
