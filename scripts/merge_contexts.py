"""Join the layers of the errors on neighbouring tokens."""

from attnlimit.base.job import begin
from attnlimit.base.store import read, write
from attnlimit.questions.contexts.measure import join_layers

p = begin(snakemake)

layers = [read(path) for path in snakemake.input.errors]
write(join_layers(layers), snakemake.output.errors, **(layers[0].attrs | {"code": p.code}))
