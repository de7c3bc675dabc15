"""The law of the next token when every layer reads some keys, for the windows of one job."""

from attnlimit.base.job import begin
from attnlimit.base.store import write
from attnlimit.questions.next_token.about import PARTS
from attnlimit.questions.next_token.measure import Draws, measure_answers
from attnlimit.sampling.windows import open_windows, over_windows

p = begin(snakemake)
context = p.settings["context"]

model, windows, facts = open_windows(snakemake.input, p.device, p.part, p.settings["parts"])
draws = Draws.of(p.settings, p.seed)
answers = over_windows(
    lambda tokens, number: measure_answers(model, tokens, draws, number), windows, context, "next_token"
)
facts |= {"context": context, "kept": draws.kept.by_protocol(), "seed": p.seed}
write(answers, snakemake.output.answers, PARTS["next_token/parts/part_{part}"], **facts, code=p.code)
