"""The mean of hardmax attention: exact, as proposed and as drawn; its decay in powers of n and of ln n."""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.hardmax.about import STORES
from attnlimit.questions.hardmax.fit import hardmax_summary

p = begin(snakemake)
options = p.settings

errors = read(snakemake.input.hardmax)
facts = inherited(errors) | {"from_n": options["from_n"]}
write(hardmax_summary(errors, options["from_n"]), snakemake.output.rates, STORES["rates/hardmax"], **facts, code=p.code)
