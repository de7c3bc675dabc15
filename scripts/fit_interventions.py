"""Rates of heads as they are and changed, and what each change did, on the same samples."""

from attnlimit.base.coordinates import STATISTICS
from attnlimit.base.job import begin
from attnlimit.base.log import report_finding
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.interventions.about import STORES
from attnlimit.questions.interventions.fit import fit_interventions, strongest
from attnlimit.stats.estimate import Estimate

p = begin(snakemake)
options = p.settings

layers = [read(path) for path in snakemake.input.errors]


def streams(layer):
    return [generator(p.seed, "fit_interventions", layer, number) for number in range(len(STATISTICS))]


marks = [options[name] for name in ("misfit", "saturated", "saturated_slope", "uncertain_limit")]
fits = fit_interventions(layers, options["bootstrap"], streams, *marks)
largest = strongest(fits)
change = Estimate.of(largest, "mean_beta_change", statistic="mean")
report_finding("{}: β of the mean changes by {:+.3f} [{:+.3f}, {:+.3f}]".format(largest["variant"].item(), *change))
facts = inherited(layers[0]) | {"source": "interventions", "replicates": layers[0].sizes["replicate"]}
write(fits, snakemake.output.rates, STORES["rates/interventions"], **facts, code=p.code)
