"""Join the parts of a simulation, which hold some of its settings each."""

from attnlimit.base.job import begin
from attnlimit.base.log import found
from attnlimit.base.store import read, write
from attnlimit.sampling.joining import join_settings

p = begin(snakemake)

parts = [read(path) for path in snakemake.input.errors]
errors = join_settings(parts)
found(f"{errors.sizes['setting']} settings")
write(errors, snakemake.output.errors, **(parts[0].attrs | {"code": p.code}))
