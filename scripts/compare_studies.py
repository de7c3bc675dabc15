"""Several studies compared: do errors and horizons of heads agree between texts, what do heads share?"""

from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import read, write
from attnlimit.questions.studies.about import STORES
from attnlimit.questions.studies.fit import compare

p = begin(snakemake)
options = p.settings

studies = dict(zip(p.studies, map(read, snakemake.input.studies), strict=True))
stream = generator(p.seed, "compare_studies")
compared = compare(studies, options["sub_gaussian_factor"], options["wanted_reach"], stream)
names = ("model", "corpus", "population", "replicates")
facts = {name: {key: study.attrs[key] for key in names} for name, study in studies.items()}
write(compared, snakemake.output.rates, STORES["rates/studies"], source="studies", studies=facts, code=p.code)
