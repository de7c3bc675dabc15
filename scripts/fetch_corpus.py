"""The corpus of the config -> a table of articles of plain text."""

from pathlib import Path

from attnlimit.base.job import begin
from attnlimit.base.log import counted, logger, report_finding, tell
from attnlimit.sources.corpus.articles import up_to, write_articles
from attnlimit.sources.corpus.location import perturbed_name
from attnlimit.sources.corpus.open import open_corpus
from attnlimit.sources.corpus.perturb import perturb
from attnlimit.sources.corpus.survey import remarks_on

p = begin(snakemake)
options = p.settings

articles, identity = open_corpus(options | {"location": p.location}, list(snakemake.input), Path(p.downloads))
wanted = perturb(up_to(articles, options["characters"]), identity, options["perturb"], p.seed)
count, characters = write_articles(wanted, snakemake.output.articles, identity)
logger.info("%d articles of %d characters: %s", count, characters, identity)
report_finding(perturbed_name(f"{counted(count, 'article')}, {characters:,} characters", options["perturb"]))
for remark in remarks_on(identity):
    tell(f"{options['location']}: {remark}")
