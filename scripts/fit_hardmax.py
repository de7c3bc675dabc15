"""The mean of hardmax attention: exact, as proposed and as drawn; its decay in powers of ln n."""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.hardmax.about import STORES
from attnlimit.questions.hardmax.fit import hardmax_summary

p = begin(snakemake)
options = p.settings

errors = read(snakemake.input.hardmax)
summary = hardmax_summary(errors, options["log10_largest"])
write(summary, snakemake.output.rates, STORES["rates/hardmax"], **inherited(errors), code=p.code)
