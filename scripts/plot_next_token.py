"""The figure of question next_token."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.next_token.figures import next_token

p = begin(snakemake)
set_theme()

save({"next_token": next_token(read(snakemake.input.rates))}, snakemake.output, p.quick_look)
