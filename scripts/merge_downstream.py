"""Errors and answers of all texts of the downstream task, from the parts of its jobs."""

from attnlimit.experiments.answers import answers, joined
from attnlimit.log import open_log
from attnlimit.store import inherited, read, write

open_log(snakemake.log[0])
p = snakemake.params

texts, parts = read(snakemake.input.texts), [read(path) for path in snakemake.input.parts]
task = texts.attrs["task"]
facts = inherited(parts[0]) | {"task": task, "classes": texts.attrs["classes"]}
write(answers(task, joined(parts), texts), snakemake.output.downstream, **facts, code=p.code)
