"""Join the layers of the errors on neighbouring tokens."""

from attnlimit.base.log import open_log
from attnlimit.base.store import read, write
from attnlimit.questions.contexts.measure import join_layers

open_log(snakemake.log[0])

layers = [read(path) for path in snakemake.input.errors]
write(join_layers(layers), snakemake.output.errors, **(layers[0].attrs | {"code": snakemake.params.code}))
