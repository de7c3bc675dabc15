"""How many keys are enough for each pattern of sparse attention: for a spreadsheet, and as a page."""

from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.html import page, paragraph, table
from attnlimit.questions.patterns.table import SHOWN, budgets_table, shown
from attnlimit.stats.table import write_csv

WHAT = (
    "Keys that a query reads until the error of sparse attention is 10 % or 5 % of its scale, medians over heads, with "
    "95 % intervals from resampling blocks. > n: not reached at n, the largest budget measured that leaves an error. "
    "≤ n: reached at the smallest budget. Rate: of the error as a power of 1/n within the block, which means little "
    "where heads have no power law."
)

p = begin(snakemake)

budgets = budgets_table(read(snakemake.input.rates))
write_csv(budgets, snakemake.output.table)
with atomic(snakemake.output.page) as temporary:
    parts = [paragraph(WHAT), table(SHOWN, shown(budgets))]
    Path(temporary).write_text(page("Budgets of sparse attention", parts, p.quick_look))
