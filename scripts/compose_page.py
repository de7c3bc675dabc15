"""The page that a run ends with: question, answer, claims, heads to explore, figures; one file, no network."""

import json
from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.job import QUICK_LOOK, begin
from attnlimit.base.log import logger
from attnlimit.base.store import read, read_attrs
from attnlimit.page.answer import capital, finding
from attnlimit.page.cards import cards, counts, looks, not_tested, undecided
from attnlimit.page.explorer import explorer
from attnlimit.page.page import computed_on, figures_of, limits, render, sections_of, settings_of, studies_of
from attnlimit.page.provenance import identities, versions
from attnlimit.page.single_heads import curve_table, head_table, in_words, slowest, tail_table

p = begin(snakemake)
given, rules = snakemake.input, Path(snakemake.scriptdir).parent / "rules"
config, path = p.config, Path(snakemake.output.page)

# A run that is not finished has only some of these files.
records = json.loads(Path(given.records).read_text()) if given.get("records") else []
lines = Path(given.answer).read_text().splitlines() if given.get("answer") else []
rates = read(given.rates) if given.get("rates") else None
tails = [read(store) for store in given.get("tails", [])]
stores = [read_attrs(store) for store in given.get("stores", [])]

names = [name for figures in p.chapters.values() for name in figures]
figures = figures_of(names, p.titles, Path("results/figures"), rules / "report", config)
tested = cards(records, [name for name in names if figures[name].svg])
told, browse = [], None
known_limits = [computed_on(stores)] if stores else []
if rates is not None:
    told = [capital(sentence) for sentence in finding(rates)]
    heads, layers = head_table(rates), rates["layer"].values.tolist()
    words = in_words(heads, rates["n"].values, tails)
    browse = explorer(heads, curve_table(rates), tail_table(tails) if tails else None, words, slowest(heads))
    of_model = read(given.weights[0], "query_bias")["layer"].values.tolist() if given.get("weights") else layers
    again = config["measure_errors"]["replacement"]
    known_limits = limits(rates.attrs, rates["n"].values.tolist(), layers, of_model, again) + known_limits

content = settings_of(config) | {
    "quick_look": QUICK_LOOK if config["quick_look"] else "",
    "sentences": told,
    "lines": lines,
    "leading": figures[names[0]] if names else None,
    "figures": figures,
    "sections": sections_of(p.chapters, figures),
    "abouts": p.abouts,
    "cards": tested,
    "counts": counts(tested),
    "looks": looks(),
    "undecided": undecided(tested),
    "not_tested": not_tested(records),
    "explorer": browse,
    "limits": known_limits,
    "left_out": p.left_out,
    "absent": p.state["absent"],
    "studies": studies_of(config),
    "commit": p.state["commit"],
    "identities": identities(stores),
    "versions": versions(stores),
}
with atomic(path) as temporary:
    temporary.write_text(render(rules / "page", content), encoding="utf-8")
logger.info("%s: %d bytes, %d claims, %d figures", path, path.stat().st_size, len(tested), len(figures))
