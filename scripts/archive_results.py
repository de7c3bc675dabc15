"""Everything behind the targets, and the workflow itself, into one file that can be checked and restored."""

from pathlib import Path

from attnlimit.archive.bundle import write_archive
from attnlimit.base.files import sha256_of
from attnlimit.base.job import begin
from attnlimit.base.log import logger, report_finding

p = begin(snakemake)
path = Path(snakemake.output.archive)

project, embeddings = Path(snakemake.scriptdir).parent, p.settings["embeddings"]
write_archive(path, snakemake.input, p.config, p.rules, p.commit, embeddings, project, p.engine, p.left_out)
logger.info("%s: %d bytes, sha256 %s", path, path.stat().st_size, sha256_of(path))
report_finding(f"{path.stat().st_size / 1e6:.3g} MB in one file")
