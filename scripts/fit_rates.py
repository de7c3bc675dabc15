"""Rates of every head and layer: one store for figures, one table for people."""

import numpy as np
import xarray as xr

from attnlimit.journal import bar, open_log
from attnlimit.names import STATISTICS
from attnlimit.rates import Bootstrap, fit_statistic
from attnlimit.sampling import generator
from attnlimit.store import identity, read, write
from attnlimit.table import rates_table, write_csv

open_log(snakemake.log[0])
p = snakemake.params

errors = [read(path) for path in snakemake.input.errors]
geometry = xr.concat([read(path).drop_dims("feature") for path in snakemake.input.geometry], "layer")
first, sizes = errors[0], errors[0]["n"].values


def fits_of(data, number, statistic):
    gram = data.get(f"{statistic}_gram")
    plan = Bootstrap(p.bootstrap, data.attrs["nested"], generator(p.seed, "fit_rates", int(data["layer"]), number))
    return fit_statistic(sizes, data[statistic].values, None if gram is None else gram.values, plan)


layers = bar(errors, total=len(errors), unit="layers", name="rates")
fits = [[fits_of(data, number, statistic) for number, statistic in enumerate(STATISTICS)] for data in layers]
stacked = {name: np.array([[fit[name] for fit in row] for row in fits]) for name in fits[0][0]}
scales = np.array([[data[f"{statistic}_scale"].values for statistic in STATISTICS] for data in errors])

shape = ("layer", "statistic", "part", "head")
last = {"value": "n", "value_se": "n", "noise_floor": "n", "local_slope": "interval"}
rates = xr.Dataset(
    {name: ((*shape, last[name]) if name in last else shape, array) for name, array in stacked.items()},
    coords={
        "layer": p.layers,
        "statistic": range(len(STATISTICS)),
        "part": range(3),
        "head": first["head"],
        "n": sizes,
    },
)
rates["limit_scale"] = (("layer", "statistic", "head"), scales)
rates["relative_error"] = rates["value"].isel(n=-1) / rates["limit_scale"]
rates["saturated"] = rates["relative_error"] > p.saturated
rates["misfit"] = rates["chi2"] > p.misfit * rates["dof"]
rates = rates.merge(geometry, join="left")

facts = {name: first.attrs[name] for name in ("population", "seed", "nested", "replacement", "dtype", "device")}
write(
    rates,
    snakemake.output.rates,
    **identity(first),
    **facts,
    replicates=first.sizes["replicate"],
    code=p.code,
)
rates.attrs = {"replicates": first.sizes["replicate"], "population": first.attrs["population"]}
write_csv(rates_table(rates, "bert"), snakemake.output.table)
