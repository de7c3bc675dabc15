"""Rates and budgets of sparse attention, every pattern and head; blocks are resampled."""

from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.patterns.about import STORES
from attnlimit.questions.patterns.fit import Marks, fit_patterns
from attnlimit.sampling.joining import join_parts
from attnlimit.stats.power_law import Bootstrap

p = begin(snakemake)
options = p.settings

stores = [read(path) for path in snakemake.input.errors]
marks = Marks(options["bend"], options["slope_tolerance"])


def rates_of(errors):
    stream = generator(p.seed, "fit_patterns")  # the same blocks in every layer
    return fit_patterns(errors, Bootstrap(options["bootstrap"], True, stream), marks)


fits = [rates_of(errors) for errors in bar(stores, total=len(stores), unit="stores", name="patterns")]
rates = join_parts(fits, "layer")
first = stores[0]
facts = inherited(first) | {"blocks": first.sizes["block"], "replicates": first.sizes["replicate"]}
facts |= {"block": int(first["length"].min())}
write(rates, snakemake.output.rates, STORES["rates/patterns"], **facts, code=p.code)
