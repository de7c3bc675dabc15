"""The comparison for people: a table with one row a head and study, and a page of answers with links to the studies."""

from html import escape
from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.html import page, paragraph, section, table
from attnlimit.questions.studies.table import ANSWERS, answer_rows, heads_table
from attnlimit.stats.table import write_csv

ABOUT = (
    "Intervals are 95 %, from layers left out in turn; over models Hartung and Knapp's; of independent heads from "
    "replicates left out in turn. One without ends has too few texts, models or layers for one. What these numbers "
    "decide is in claims.html, each head in studies.csv."
)

p = begin(snakemake)
compared = read(snakemake.input.rates)

write_csv(heads_table(compared), snakemake.output.table)
links = []
for name, folder in p.folders.items():
    there = folder if Path(folder).is_absolute() else f"../{folder}"
    model, text = (str(compared[f"{what}_of_study"].sel(study=name).item()) for what in ("model", "text"))
    tokens = compared.attrs["studies"][name]["population"]
    pages = ", ".join(f'<a href="{escape(there)}/results/{file}.html">{file}</a>' for file in ("index", "report"))
    links.append(f"<li>{escape(name)}: {escape(model)} on {escape(text)}, {tokens:,} tokens ({pages})</li>")
parts = [section("The studies", f"<ul>{''.join(links)}</ul>")]
if p.missing:
    parts.append(section("Not there", table(("study", "why"), p.missing.items())))
parts.append(section("The answers", paragraph(ABOUT), table(ANSWERS, answer_rows(compared))))
with atomic(snakemake.output.page) as temporary:
    Path(temporary).write_text(page("The studies compared", parts, p.quick_look))
