"""What a comparison reads of one finished run: rates, couplings and tails of each head, and how noisy the rates are."""

from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.studies.about import STORES
from attnlimit.questions.studies.gather import gather

p = begin(snakemake)

(rates,) = map(read, snakemake.input.rates)
tails, errors = ([read(path) for path in paths] for paths in (snakemake.input.tails, snakemake.input.errors))
study = gather(rates, tails, errors, generator(p.seed, "gather_study"))
words = STORES["studies/{study}"]
write(study, snakemake.output.study, words, **inherited(rates) | {"source": "studies", "code": p.code})
