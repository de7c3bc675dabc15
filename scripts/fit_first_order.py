"""Errors of every head as first order predicts them, beside those measured."""

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.log import counted, report_finding
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.first_order.about import STORES
from attnlimit.questions.first_order.fit import compared
from attnlimit.sampling.joining import join_parts

p = begin(snakemake)

given = snakemake.input
stores = [(read(path), read(errors)) for path, errors in zip(given.constants, given.errors, strict=True)]
fits = [
    compared(*layer, p.expansion, p.bootstrap, generator(p.seed, "fit_first_order", int(layer[0]["layer"])))
    for layer in stores
]
rates = join_parts(fits, "layer")
ratio = heads_only(rates["ratio"]).sel(statistic="mean").isel(n=-1)
report_finding(
    f"{counted(ratio.size, 'head')}, predicted over measured error {float(ratio.median()):.2f} in the median"
)
facts = inherited(stores[0][1]) | {"source": "first_order", "replicates": stores[0][1].sizes["replicate"]}
write(rates, snakemake.output.rates, STORES["rates/first_order"], **facts, expansion=p.expansion, code=p.code)
