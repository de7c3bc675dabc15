"""Join the parts of one layer's limit; with a surrogate, correct its moments by the exact outputs."""

from attnlimit.base.job import begin
from attnlimit.base.log import counted, report_finding
from attnlimit.base.store import read, write
from attnlimit.sampling.about import STORES
from attnlimit.sampling.joining import MOMENTS
from attnlimit.sampling.merging import LIMIT_PART, merge_limits, merge_surrogate

p = begin(snakemake)

surrogate = snakemake.input.get("surrogate")
names = MOMENTS if surrogate else LIMIT_PART
parts = [read(path, *names) for path in snakemake.input.limits]  # not the outputs, by far the largest of them
facts = parts[0].attrs
if surrogate:
    limit = merge_surrogate(parts, read(surrogate))
else:
    limit = merge_limits(parts, facts["queries"], facts["population"])
drawn = f"from {facts['queries']:,} of {facts['population']:,} queries{' and a surrogate' if surrogate else ''}"
report_finding(
    f"{counted(limit.sizes['head'] - 1, 'head')}, limit {drawn if limit['limit_mean_se'].any() else 'exact'}"
)
words = STORES["limits/layer_{layer}"]
write(limit.assign_coords(layer=p.layer), snakemake.output.limit, words, **(facts | {"code": p.code}))
