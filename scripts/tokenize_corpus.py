"""Articles -> blocks of token ids, enough of them for the population."""

import os

import numpy as np

from attnlimit.articles import read_identity, read_numbers, read_texts, require_whole
from attnlimit.corpus import blocks_dataset, choose_blocks, cut, fill, load_tokenizer, word_pieces
from attnlimit.files import sha256_of
from attnlimit.journal import bar, logger, open_log
from attnlimit.sampling import generator
from attnlimit.store import write

open_log(snakemake.log[0])
os.environ["RAYON_NUM_THREADS"] = str(snakemake.threads)  # of the tokenizer, which takes all cores unless told
p, table = snakemake.params, snakemake.input.articles

require_whole(table)
page_ids, revision_ids = read_numbers(table, "page_id"), read_numbers(table, "revision_id")
tokenizer, marks = load_tokenizer(snakemake.input.tokenizer)
pieces = list(bar(word_pieces(read_texts(table), tokenizer), len(page_ids), unit="articles", name="tokens"))

blocks = cut(np.array([len(ids) for ids in pieces]), p.block, p.full_blocks)
chosen = choose_blocks(blocks, p.population, generator(p.seed, "tokenize_corpus"))
dataset = blocks_dataset(chosen, fill(chosen, pieces, marks), page_ids, revision_ids)
logger.info("%d tokens in %d blocks of %d articles", *dataset.sizes.values(), len(pieces))

write(
    dataset,
    snakemake.output.blocks,
    corpus=read_identity(table),
    tokenizer_sha256=sha256_of(snakemake.input.tokenizer),
    seed=p.seed,
    code=p.code,
)
