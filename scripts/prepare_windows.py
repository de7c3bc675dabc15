"""The first tokens of some articles: windows of text that a causal model reads."""

from pathlib import Path

from attnlimit.base.files import sha256_of
from attnlimit.base.job import begin
from attnlimit.base.log import counted, report_finding
from attnlimit.base.seeds import generator
from attnlimit.base.store import write
from attnlimit.questions.keys.about import STORES
from attnlimit.questions.keys.windows import choose_windows
from attnlimit.sources.corpus.articles import read_articles, read_identity
from attnlimit.sources.model.decoder import tokenizer_of

p = begin(snakemake)
options, table = p.settings, snakemake.input.articles

tokenizer = tokenizer_of(Path(snakemake.input.tokenizer).parent)
articles = [article for group in read_articles(table) for article in group]
windows = choose_windows(articles, tokenizer, options, generator(p.seed, "prepare_windows"))
report_finding(f"{counted(windows.sizes['window'], 'window')} of {windows.sizes['position']:,} tokens")
facts = {"corpus": read_identity(table), "tokenizer_sha256": sha256_of(snakemake.input.tokenizer), "seed": p.seed}
write(
    windows, snakemake.output.windows, STORES["keys/windows"], **facts, population=windows["token_id"].size, code=p.code
)
