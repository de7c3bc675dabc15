"""What drawn keys do to a downstream task, with intervals that resample articles, or texts, whole."""

from attnlimit.log import open_log
from attnlimit.rates.downstream import summary
from attnlimit.rates.grouped import resample
from attnlimit.seeds import generator
from attnlimit.store import inherited, read, write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

errors = read(snakemake.input.downstream)
resampled = resample(errors["cluster"].values, options["bootstrap"], generator(p.seed, "fit_downstream"))
facts = inherited(errors) | {"groups": resampled.groups, "replicates": errors.sizes["replicate"]}
write(summary(errors, resampled), snakemake.output.rates, **facts, code=p.code)
