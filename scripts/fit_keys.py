"""Keys for a wanted error, rates, gains and growth of every head, with intervals over windows."""

from attnlimit.base.job import begin
from attnlimit.base.log import report_finding
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.keys.about import STORES
from attnlimit.questions.keys.fit import fit_keys

p = begin(snakemake)

errors = read(snakemake.input.errors)
fits = fit_keys(errors, errors.attrs["context"], errors.attrs["kept"])
median = fits["median_keys"].sel(eps=0.05, protocol="sink_recent")
report_finding(f"n(5 %) with first and last keys kept: median over heads {float(median):,.0f}")
facts = inherited(errors) | {"replicates": errors.sizes["replicate"]}
write(fits, snakemake.output.rates, STORES["rates/keys"], **facts, code=p.code)
