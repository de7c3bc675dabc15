"""The figure of question downstream."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.downstream.figures import downstream

p = begin(snakemake)
set_theme()

save(
    {"downstream": downstream(read(snakemake.input.rates), read(snakemake.input.downstream))},
    snakemake.output,
    p.quick_look,
)
