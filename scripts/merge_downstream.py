"""Errors and answers of all texts of the downstream task, from the parts of its jobs."""

from attnlimit.base.job import begin
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.downstream.about import STORES
from attnlimit.questions.downstream.answers import answers, joined

p = begin(snakemake)

texts, parts = read(snakemake.input.texts), [read(path) for path in snakemake.input.parts]
task = texts.attrs["task"]
facts = inherited(parts[0]) | {"task": task, "classes": texts.attrs["classes"]}
words = STORES["downstream/answers"]
write(answers(task, joined(parts), texts), snakemake.output.downstream, words, **facts, code=p.code)
