"""How the constant of the moments grows with the radius of the tokens' support, on a sphere."""

from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.sphere.about import STORES
from attnlimit.questions.sphere.fit import fit_constants
from attnlimit.stats.power_law import Bootstrap

p = begin(snakemake)
options = p.settings

errors, rates = read(snakemake.input.errors), read(snakemake.input.rates)
bootstrap = Bootstrap(options["bootstrap"], errors.attrs["nested"], generator(p.seed, "fit_constants"))
constants = fit_constants(errors, rates, bootstrap, options["slope_tolerance"], options["polynomial_degree"])
write(constants, snakemake.output.rates, STORES["rates/constants"], **inherited(errors), code=p.code)
