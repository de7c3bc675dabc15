"""The corpus of the config -> a table of articles of plain text."""

from pathlib import Path

from attnlimit.articles import up_to, write_articles
from attnlimit.journal import logger, open_log
from attnlimit.sources import open_corpus

open_log(snakemake.log[0])
p = snakemake.params

articles, identity = open_corpus(p.corpus, Path(p.downloads))
wanted = up_to(articles, p.corpus["characters"])
count, characters = write_articles(wanted, snakemake.output.articles, identity)
logger.info("%d articles of %d characters: %s", count, characters, identity)
