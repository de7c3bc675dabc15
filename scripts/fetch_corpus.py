"""Dump of Wikipedia -> articles of plain text."""

from attnlimit.corpus import articles_table, excerpt_path, read_dump, write_articles
from attnlimit.files import verify_sha256
from attnlimit.journal import logger, open_log

open_log(snakemake.log[0])
p = snakemake.params

dump = excerpt_path()
verify_sha256(dump, p.sha256)
articles = articles_table(read_dump(dump, p.max_bytes))
logger.info("%d articles of %s", articles.num_rows, dump.name)
write_articles(articles, snakemake.output.articles, source=p.source, dump=dump.name, sha256=p.sha256)
