"""The mean of hardmax attention: exact, as proposed and simulated in one dimension, simulated in more."""

import numpy as np
import xarray as xr

from attnlimit.hardmax import decay, direct, line, plane
from attnlimit.journal import open_log
from attnlimit.limits import hardmax_expected_error, hardmax_proposition
from attnlimit.store import write

open_log(snakemake.log[0])
p = snakemake.params

expected = np.array([hardmax_expected_error(n, p.sigma) for n in p.sizes])
proposition = np.array([hardmax_proposition(n, p.sigma) for n in p.sizes])
formulas = xr.Dataset(
    {"expected": ("n", expected), "proposition": ("n", proposition), "ratio": ("n", expected / proposition)},
    coords={"n": p.sizes},
)
on_line = line(p.sizes, p.line_replicates, p.seed)
in_plane = plane(p.sizes, p.plane_replicates, p.seed)
drawn = direct(p.dimensions, p.direct_sizes, p.direct_replicates, p.seed)
simulations = [
    decay("line", p.sigma * on_line, n=p.sizes),
    decay("plane", p.sigma * in_plane, n=p.sizes),
    decay("direct", p.sigma * drawn, dimension=p.dimensions, n_direct=p.direct_sizes),
]
write(xr.merge([formulas, *simulations]), snakemake.output.hardmax, sigma=p.sigma, seed=p.seed, code=p.code)
