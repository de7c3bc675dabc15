"""What the run found: a few plain sentences, "how many tokens?" side by side, and lines with more numbers."""

import json
from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.job import QUICK_LOOK, begin
from attnlimit.base.store import read
from attnlimit.page.answer import answer, context_answer
from attnlimit.page.conclusion import answers, conclusion
from attnlimit.questions.atlas.answer import atlas_answer
from attnlimit.questions.keys.answer import keys_answer
from attnlimit.questions.studies.report import studies_answer

p = begin(snakemake)
names = ("rates", "contexts", "patterns", "language", "entry", "studies", "atlas")
rates, contexts, patterns, language, entry, studies, atlas = (
    read(snakemake.input[name]) if snakemake.input.get(name) else None for name in names
)
records = json.loads(Path(snakemake.input.records).read_text(encoding="utf-8"))

options = p.settings
lines = {"quick_look": QUICK_LOOK} if p.quick_look else {}
if rates is not None:
    lines |= answer(rates, options["weakest_horizon"])
elif studies is not None:
    lines |= studies_answer(studies, options["agreement"])
elif atlas is not None:
    lines |= atlas_answer(atlas)
elif language is not None:
    lines |= keys_answer(language)
elif entry is not None:
    lines |= keys_answer(entry, "nearest")
else:
    lines["nothing"] = "this run has no rates of a model's heads"
lines |= context_answer(contexts) if contexts is not None else {}
lines |= {"left_out": p.left_out} if p.left_out else {}

findings = conclusion(records, rates, contexts, language)
side_by_side = answers(rates, contexts, patterns, language)
found = {
    name: [each._asdict() for each in some] for name, some in (("conclusion", findings), ("answers", side_by_side))
}
found["lines"] = lines
said = [*(" ".join(each).rstrip() for each in findings), "", *lines.values()] if findings else lines.values()
texts = {"lines": "\n".join(said) + "\n", "sentences": json.dumps(found, indent=2, ensure_ascii=False) + "\n"}
for name, text in texts.items():
    with atomic(snakemake.output[name]) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")
