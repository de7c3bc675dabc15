"""What the stored results say of each claim, the paper's and our own."""

from pathlib import Path

from attnlimit.base.job import begin
from attnlimit.base.log import logger, report_finding
from attnlimit.base.store import read
from attnlimit.page.assess import assess, claims_of, write_json
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED

p = begin(snakemake)

stores = {Path(path).name.removesuffix(".zarr.zip"): read(path) for path in snakemake.input.fits}
records = assess(claims_of(p.questions), stores, p.thresholds, p.chapters, p.rules)
for record in records:
    logger.info("%s: %s; %s", record.id, record.verdict or "no verdict", record.in_short)
count = [record.verdict for record in records].count
left_out = f", {count(None)} left out" if count(None) else ""
report_finding(f"{count(HOLDS)} hold, {count(FAILS)} do not, {count(UNDECIDED)} undecided{left_out}")
write_json(records, snakemake.output.records)
