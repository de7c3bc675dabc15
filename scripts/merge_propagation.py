"""Join the blocks that the jobs of measure_propagation read."""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.sampling.merging_blocks import merge_blocks

p = begin(snakemake)

parts = [read(path) for path in snakemake.input.errors]
write(merge_blocks(parts), snakemake.output.errors, **inherited(parts[0]), code=p.code)
