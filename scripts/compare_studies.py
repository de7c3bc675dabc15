"""Several studies compared: do rates and horizons agree between texts, what orders the rates, what do heads share?"""

from attnlimit.log import open_log
from attnlimit.rates.studies import compare
from attnlimit.store import read, write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

studies = dict(zip(p.studies, map(read, snakemake.input.studies), strict=True))
compared = compare(studies, options["weakest_horizon"], options["sub_gaussian_factor"])
names = ("model", "corpus", "population", "replicates")
facts = {name: {key: study.attrs[key] for key in names} for name, study in studies.items()}
write(compared, snakemake.output.rates, source="studies", studies=facts, code=p.code)
