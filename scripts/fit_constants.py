"""How the constant of the moments grows with the radius of the tokens' support: exact, and as drawn."""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.sphere.about import STORES
from attnlimit.questions.sphere.fit import fit_constants

p = begin(snakemake)
options = p.settings

errors = read(snakemake.input.errors)
constants = fit_constants(errors, options["dimensions"], options["span"])
write(constants, snakemake.output.rates, STORES["rates/constants"], **inherited(errors), code=p.code)
