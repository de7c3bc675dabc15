"""What the stored results say of each claim of the paper: records for machines, a page for people."""

from attnlimit.base.job import begin
from attnlimit.base.log import found, logger
from attnlimit.base.store import read
from attnlimit.page.answer import about, about_limits
from attnlimit.page.assess import assess, write_json
from attnlimit.page.claims_page import write_page
from attnlimit.stats.verdicts import FAILS, HOLDS, UNTESTED

p = begin(snakemake)

stores = {name: read(path) for name, path in snakemake.input.items()}
records = assess(stores, p.thresholds, p.chapters, p.seed)
for record in records:
    logger.info("%s: %s; %s", record.id, record.verdict or "no verdict", record.in_short)
count = [record.verdict for record in records].count
left_out = f", {count(None)} left out" if count(None) else ""
found(f"{count(HOLDS)} hold, {count(FAILS)} do not, {count(UNTESTED)} not tested at this size{left_out}")
write_json(records, snakemake.output.records)
model = stores.get("heads")
lines = [about(model), about_limits(model)] if model else []
write_page(records, snakemake.output.page, p.left_out, lines, p.quick_look)
