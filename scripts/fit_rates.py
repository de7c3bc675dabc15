"""Rates of one source: the heads of a model, or the settings of an experiment."""

from attnlimit.base.coordinates import STATISTICS, heads_only
from attnlimit.base.job import begin
from attnlimit.base.log import bar, counted, report_finding
from attnlimit.base.seeds import generator
from attnlimit.base.store import handed_on, inherited, read, write
from attnlimit.base.words import FITS
from attnlimit.sampling.joining import join_parts
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap

p = begin(snakemake)
options = p.settings
ADDRESSES = {"heads": "bert"}  # of the draws: the source's first name, kept because another would change every interval

stores = [read(path) for path in snakemake.input.errors]
marks = [options[name] for name in ("misfit", "saturated", "saturated_slope", "uncertain_limit")]


def rates_of(errors):
    address, layer = ADDRESSES.get(p.source, p.source), int(errors.get("layer", 0))
    streams = [generator(p.seed, f"fit_rates {address}", layer, number) for number in range(len(STATISTICS))]
    return fit_errors(
        errors, [Bootstrap(options["bootstrap"], errors.attrs["nested"], each) for each in streams], *marks
    )


fits = [rates_of(errors) for errors in bar(stores, total=len(stores), unit="stores", name="rates")]
rates = join_parts(fits, "layer") if "layer" in fits[0].coords else fits[0]
first = stores[0]
facts = inherited(first) | {"source": p.source, "replicates": first.sizes["replicate"]}
beta = heads_only(rates["beta"]).sel(statistic="mean", part="error")
report_finding(f"{counted(beta.size, 'fit')} of the mean, β from {float(beta.min()):z.2f} to {float(beta.max()):z.2f}")
write(rates, snakemake.output.rates, handed_on(*stores) | FITS, **facts, code=p.code)
