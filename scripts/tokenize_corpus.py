"""Articles -> blocks of token ids, enough of them for the population."""

from tokenizers import Tokenizer

from attnlimit.corpus import blocks_dataset, choose_blocks, read_articles, token_blocks
from attnlimit.files import sha256_of
from attnlimit.journal import logger, open_log
from attnlimit.sampling import generator
from attnlimit.store import write

open_log(snakemake.log[0])
p = snakemake.params

articles, corpus = read_articles(snakemake.input.articles)
tokenizer = Tokenizer.from_file(snakemake.input.tokenizer)
blocks = token_blocks(articles["text"].to_pylist(), tokenizer, p.block)

chosen = choose_blocks(blocks, p.population, generator(p.seed, "tokenize_corpus"))
dataset = blocks_dataset(chosen, articles["page_id"].to_numpy(), articles["revision_id"].to_numpy())
logger.info("%d tokens in %d blocks of %d articles", dataset.sizes["token"], len(chosen), articles.num_rows)

write(
    dataset,
    snakemake.output.blocks,
    corpus=corpus,
    tokenizer_sha256=sha256_of(snakemake.input.tokenizer),
    seed=p.seed,
    code=p.code,
)
