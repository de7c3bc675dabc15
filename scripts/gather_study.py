"""What a comparison reads of one finished run: fits, couplings and tails of each head, and its raw errors."""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.studies.about import STORES
from attnlimit.questions.studies.gather import gather

p = begin(snakemake)

(rates,) = map(read, snakemake.input.rates)
tails, errors = ([read(path) for path in paths] for paths in (snakemake.input.tails, snakemake.input.errors))
study = gather(rates, tails, errors, [read(path) for path in snakemake.input.get("interventions", [])])
words = STORES["studies/{study}"]
write(study, snakemake.output.study, words, **inherited(rates) | {"source": "studies", "code": p.code})
