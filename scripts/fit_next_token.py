"""Perplexity, agreement and divergence against the number of keys, with intervals over windows."""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.next_token.about import STORES
from attnlimit.questions.next_token.fit import fit_next_token

p = begin(snakemake)

answers = read(snakemake.input.answers)
fits = fit_next_token(answers, answers.attrs["kept"])
facts = inherited(answers) | {"replicates": answers.sizes["replicate"]}
write(fits, snakemake.output.rates, STORES["rates/next_token"], **facts, code=p.code)
