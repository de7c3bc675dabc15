"""Join the blocks that the jobs of measure_propagation read."""

from attnlimit.base.log import open_log
from attnlimit.base.store import inherited, read, write
from attnlimit.sampling.merging_blocks import merge_blocks

open_log(snakemake.log[0])

parts = [read(path) for path in snakemake.input.errors]
write(merge_blocks(parts), snakemake.output.errors, **inherited(parts[0]), code=snakemake.params.code)
