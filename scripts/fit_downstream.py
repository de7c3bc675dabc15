"""What drawn keys do to a downstream task, with intervals that resample articles, or texts, whole."""

from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.downstream.about import STORES
from attnlimit.questions.downstream.fit import summary
from attnlimit.questions.downstream.grouped import resample

p = begin(snakemake)
options = p.settings

errors = read(snakemake.input.downstream)
resampled = resample(errors["cluster"].values, options["bootstrap"], generator(p.seed, "fit_downstream"))
facts = inherited(errors) | {"groups": resampled.groups, "replicates": errors.sizes["replicate"]}
write(summary(errors, resampled), snakemake.output.rates, STORES["rates/downstream"], **facts, code=p.code)
