"""Finished runs of one model each, side by side: one row a head over all models."""

from attnlimit.base.job import begin
from attnlimit.base.log import report_finding
from attnlimit.base.store import read, write
from attnlimit.questions.atlas.about import STORES
from attnlimit.questions.atlas.compare import compare

p = begin(snakemake)

stores = zip(map(read, snakemake.input.rates), map(read, snakemake.input.couplings), strict=True)
entries = dict(zip(p.models, stores, strict=True))
compared = compare(entries, p.size)
report_finding(f"{len(entries)} models, {compared.sizes['row']} heads")
names = ("model", "corpus", "population", "windows", "replicates", "kept")
facts = {name: {key: fits.attrs[key] for key in names} for name, (fits, _) in entries.items()}
write(compared, snakemake.output.rates, STORES["rates/atlas"], source="atlas", models=facts, size=p.size, code=p.code)
