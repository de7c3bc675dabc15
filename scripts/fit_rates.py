"""Rates of one source: the heads of a model, or the settings of a simulation."""

import xarray as xr

from attnlimit.fits import fit_errors
from attnlimit.journal import bar, open_log
from attnlimit.names import STATISTICS
from attnlimit.rates import Bootstrap
from attnlimit.sampling import generator
from attnlimit.store import read, write

open_log(snakemake.log[0])
p = snakemake.params

stores = [read(path) for path in snakemake.input.errors]
first = stores[0]


def rates_of(errors):
    layer = int(errors.get("layer", 0))
    streams = [generator(p.seed, f"fit_rates {p.source}", layer, number) for number in range(len(STATISTICS))]
    plans = [Bootstrap(p.bootstrap, errors.attrs["nested"], stream) for stream in streams]
    return fit_errors(errors, plans, p.misfit, p.saturated)


fits = [rates_of(errors) for errors in bar(stores, total=len(stores), unit="stores", name="rates")]
if snakemake.input.get("geometry"):
    rates = xr.concat(fits, "layer")
    geometry = xr.concat([read(path).drop_dims("feature") for path in snakemake.input.geometry], "layer")
    rates = rates.merge(geometry, join="left")
else:
    (rates,) = fits

facts = {name: value for name, value in first.attrs.items() if name not in ("code", "versions")}
write(rates, snakemake.output.rates, **facts, source=p.source, replicates=first.sizes["replicate"], code=p.code)
