"""The page that a run ends with: answer, claims, heads to explore, figures, provenance; one file, no network."""

import json
from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.job import begin
from attnlimit.base.log import logger
from attnlimit.base.store import read, read_attrs
from attnlimit.page.explorer import explorer
from attnlimit.page.figures import figures_of
from attnlimit.page.key_explorer import key_explorer
from attnlimit.page.page import (
    NO_ANSWER,
    claims_on_page,
    computed_on,
    limits,
    limits_of_keys,
    placed,
    render,
    settings_of,
    studies_of,
)
from attnlimit.page.provenance import identities, settings, store_rows, versions
from attnlimit.page.single_heads import curve_table, head_table, in_words, slowest, tail_table
from attnlimit.questions.atlas.report import SUMMARY, atlas_facts, model_rows
from attnlimit.questions.atlas.report import WHAT as OF_MODELS
from attnlimit.questions.patterns.table import SHOWN, budgets_table, shown
from attnlimit.questions.patterns.table import WHAT as OF_BUDGETS
from attnlimit.questions.studies.report import ANSWERS, answer_rows, study_facts
from attnlimit.questions.studies.report import WHAT as OF_STUDIES

p = begin(snakemake)
given, rules = snakemake.input, Path(snakemake.scriptdir).parent / "rules"
config, path = p.config, Path(snakemake.output.page)

# A run that is not finished has only some of these files.
records = json.loads(Path(given.records).read_text(encoding="utf-8")) if given.get("records") else []
answer = json.loads(Path(given.answer).read_text(encoding="utf-8")) if given.get("answer") else NO_ANSWER
names = ("rates", "first_order", "patterns", "studies", "atlas", "of_keys")
rates, first, patterns, studies, atlas, keys = (read(given[name]) if given.get(name) else None for name in names)
tails = [read(store) for store in given.get("tails", [])]
stores = {store: read_attrs(store) for store in given.get("stores", [])}

figures = figures_of(p.figures, Path("results/figures"), rules / "report", config)
tables = {}  # by question: what the table is, its columns, its rows
if patterns is not None:
    tables["patterns"] = OF_BUDGETS, SHOWN, list(shown(budgets_table(patterns)))
if studies is not None:
    tables["studies"] = OF_STUDIES, ANSWERS, list(answer_rows(studies))
if atlas is not None:
    tables["atlas"] = OF_MODELS, SUMMARY, list(model_rows(atlas))
browse = None
known_limits = [computed_on(stores.values())] if stores else []
if rates is not None:
    heads, layers = head_table(rates, first), rates["layer"].values.tolist()
    words = in_words(heads, rates["n"].values, tails)
    curves, tail = curve_table(rates, first), tail_table(tails) if tails else None
    browse = explorer(heads, curves, tail, words, slowest(heads))
    of_model = read(given.weights[0], "query_bias")["layer"].values.tolist() if given.get("weights") else layers
    again = config["measure_errors"]["replacement"]
    known_limits = limits(rates.attrs, rates["n"].values.tolist(), layers, of_model, again) + known_limits

leading = next(iter(figures.values()), None)
if keys is not None:
    browse = key_explorer(keys)
    known_limits = limits_of_keys(keys.attrs) + known_limits

content = settings_of(config, p.command) | claims_on_page(records, figures)
content |= placed(p.sections, content["claims"], figures, leading.name if leading else "")
content |= {
    "answer": answer,
    "leading": leading,
    "figures": figures,
    "sections": p.sections,
    "tables": tables,
    "explorer": browse,
    "limits": known_limits,
    "absent": p.state["absent"],
    "studies": studies_of(config, study_facts(studies) if studies is not None else {}),
    "models": studies_of(config, atlas_facts(atlas) if atlas is not None else {}, "compare_atlas", "models"),
    "commit": p.state["commit"],
    "identities": identities(stores.values()),
    "versions": versions(stores.values()),
    "stores": store_rows(stores),
    "settings": settings(config),
}
with atomic(path) as temporary:
    temporary.write_text(render(rules / "page", content), encoding="utf-8")
logger.info("%s: %d bytes, %d claims, %d figures", path, path.stat().st_size, len(records), len(figures))
