"""Is attention at one query normal, and does it know its own error?"""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.normality.about import STORES
from attnlimit.questions.normality.fit import normality_summary
from attnlimit.questions.normality.measure import LEVEL

p = begin(snakemake)

raw = read(snakemake.input.normality)
facts = inherited(raw) | {"level": LEVEL, "replicates": raw.sizes["replicate"]}
write(normality_summary(raw), snakemake.output.rates, STORES["rates/normality"], **facts, code=p.code)
