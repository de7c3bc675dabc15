"""The mean of hardmax attention: exact, as proposed and as drawn; its decay in powers of n and of ln n."""

from attnlimit.base.log import open_log
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.hardmax.fit import hardmax_summary

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

errors = read(snakemake.input.hardmax)
facts = inherited(errors) | {"from_n": options["from_n"]}
write(hardmax_summary(errors, options["from_n"]), snakemake.output.rates, **facts, code=p.code)
