"""What the run found in a few sentences: lines for the terminal, by key for the page."""

import json
from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.job import QUICK_LOOK, begin
from attnlimit.base.store import read
from attnlimit.page.answer import answer, context_answer
from attnlimit.questions.keys.answer import keys_answer
from attnlimit.questions.studies.report import studies_answer

p = begin(snakemake)
(rates, contexts, language, studies) = map(snakemake.input.get, ("rates", "contexts", "language", "studies"))

options = p.settings
lines = {"quick_look": QUICK_LOOK} if p.quick_look else {}
lines |= (
    answer(read(rates), options["weakest_horizon"])
    if rates
    else studies_answer(read(studies), options["agreement"])
    if studies
    else keys_answer(read(language))
    if language
    else {"nothing": "this run has no rates of a model's heads"}
)
lines |= context_answer(read(contexts)) if contexts else {}
lines |= {"left_out": p.left_out} if p.left_out else {}
texts = {"lines": "\n".join(lines.values()) + "\n", "sentences": json.dumps(lines, indent=2, ensure_ascii=False) + "\n"}
for name, text in texts.items():
    with atomic(snakemake.output[name]) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")
