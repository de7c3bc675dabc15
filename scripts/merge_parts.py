"""Join what jobs measured in parts: settings of a simulation, blocks of a text, layers of a model."""

from attnlimit.base.job import begin
from attnlimit.base.log import report_finding
from attnlimit.base.store import handed_on, inherited, read, write
from attnlimit.sampling.joining import join_parts

p = begin(snakemake)

parts = [read(path) for path in snakemake.input.parts]
merged = join_parts(parts, p.dimension, p.shared)
report_finding(f"{merged.sizes[p.dimension]} along {p.dimension}")
write(merged, snakemake.output.merged, handed_on(parts[0]), **inherited(parts[0]), code=p.code)
