"""Join the layers of the errors on neighbouring tokens."""

from attnlimit.experiments.contexts import join_layers
from attnlimit.log import open_log
from attnlimit.store import read, write

open_log(snakemake.log[0])

layers = [read(path) for path in snakemake.input.errors]
write(join_layers(layers), snakemake.output.errors, **(layers[0].attrs | {"code": snakemake.params.code}))
