"""Join the blocks that the jobs of measure_propagation read."""

from attnlimit.experiments.merging_blocks import merge_blocks
from attnlimit.log import open_log
from attnlimit.store import inherited, read, write

open_log(snakemake.log[0])

parts = [read(path) for path in snakemake.input.errors]
write(merge_blocks(parts), snakemake.output.errors, **inherited(parts[0]), code=snakemake.params.code)
