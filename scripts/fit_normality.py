"""Is attention at one query normal, and does it know its own error?"""

from attnlimit.experiments.normality import LEVEL
from attnlimit.log import open_log
from attnlimit.rates.summaries import normality_summary
from attnlimit.store import inherited, read, write

open_log(snakemake.log[0])

raw = read(snakemake.input.normality)
facts = inherited(raw) | {"level": LEVEL, "replicates": raw.sizes["replicate"]}
write(normality_summary(raw), snakemake.output.rates, **facts, code=snakemake.params.code)
