"""The mean of hardmax attention: exact, as proposed and as drawn; its decay in powers of n and of ln n."""

from attnlimit.log import open_log
from attnlimit.rates.summaries import hardmax_summary
from attnlimit.store import inherited, read, write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

errors = read(snakemake.input.hardmax)
facts = inherited(errors) | {"from_n": options["from_n"]}
write(hardmax_summary(errors, options["from_n"]), snakemake.output.rates, **facts, code=p.code)
