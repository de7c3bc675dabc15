"""Join the parts of one layer's limit."""

from attnlimit.experiments.merging import merge_limits
from attnlimit.log import open_log
from attnlimit.store import read, write

open_log(snakemake.log[0])
p = snakemake.params

parts = [read(path) for path in snakemake.input.limits]
facts = parts[0].attrs
limit = merge_limits(parts, facts["queries"], facts["population"]).assign_coords(layer=p.layer)
write(limit, snakemake.output.limit, **(facts | {"code": p.code}))
