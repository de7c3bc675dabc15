"""Join the parts of a simulation, which hold some of its settings each."""

from attnlimit.base.log import found, open_log
from attnlimit.base.store import read, write
from attnlimit.sampling.joining import join_settings

open_log(snakemake.log[0])

parts = [read(path) for path in snakemake.input.errors]
errors = join_settings(parts)
found(f"{errors.sizes['setting']} settings")
write(errors, snakemake.output.errors, **(parts[0].attrs | {"code": snakemake.params.code}))
