"""The figures of question keys."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.drawing.style import save, set_theme
from attnlimit.questions.keys.figures import keys, keys_by_context, keys_by_layer

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
figures = {
    "keys": keys(fits),
    "keys_by_layer": keys_by_layer(fits),
    "keys_by_context": keys_by_context(fits),
}
save(figures, snakemake.output, p.quick_look)
