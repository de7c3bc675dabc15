"""Articles -> blocks of token ids, enough of them for the population."""

import numpy as np

from attnlimit.base.files import sha256_of
from attnlimit.base.job import begin
from attnlimit.base.log import bar, counted, report_finding
from attnlimit.base.seeds import generator
from attnlimit.base.store import write
from attnlimit.sources.about import STORES
from attnlimit.sources.corpus.articles import read_articles, read_identity
from attnlimit.sources.corpus.blocks import blocks_dataset, choose_blocks, cut, fill, load_tokenizer, word_pieces

p = begin(snakemake)
options, table = p.settings, snakemake.input.articles

tokenizer, marks = load_tokenizer(snakemake.input.tokenizer)
numbers, pieces = [], []
for articles in bar(read_articles(table), 0, unit="batches", name="tokens"):
    numbers += [(article.page_id, article.revision_id) for article in articles]
    pieces += word_pieces([article.text for article in articles], tokenizer)
page_ids, revision_ids = np.array(numbers).T

blocks = cut(np.array([len(ids) for ids in pieces]), options["block"], options["full_blocks"])
chosen = choose_blocks(blocks, options["population"], generator(p.seed, "tokenize_corpus"))
dataset = blocks_dataset(chosen, fill(chosen, pieces, marks), page_ids, revision_ids)
tokens, count = dataset.sizes.values()
report_finding(f"{tokens:,} tokens in {counted(count, 'block')} of {counted(len(pieces), 'article')}")

write(
    dataset,
    snakemake.output.blocks,
    STORES["corpus/blocks"],
    corpus=read_identity(table),
    tokenizer_sha256=sha256_of(snakemake.input.tokenizer),
    population=dataset.sizes["token"],
    population_asked=options["population"],
    seed=p.seed,
    code=p.code,
)
