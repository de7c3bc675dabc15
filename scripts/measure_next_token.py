"""The law of the next token when every layer reads some keys, for the windows of one job."""

from pathlib import Path

from attnlimit.attention.kernel import choose_device
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import share
from attnlimit.base.store import identity, read, write
from attnlimit.questions.next_token.about import PARTS
from attnlimit.questions.next_token.measure import Draws, joined, measure_answers
from attnlimit.sources.model.decoder import load_decoder
from attnlimit.sources.model.files import require_as_fetched

p = begin(snakemake)
options = p.settings

windows, heads = read(snakemake.input.windows), read(snakemake.input.heads)
model_files = snakemake.input.config, snakemake.input.weights
require_as_fetched(model_files, heads.attrs["model"]["sha256"], windows.attrs["tokenizer_sha256"])
model, _ = load_decoder(Path(snakemake.input.weights).parent)
model = model.to(choose_device(p.device))
draws = Draws.of(options, p.seed)
mine = share(windows["window"].values.tolist(), p.part, options["parts"])
tokens = windows["token_id"].values[:, : options["context"]]
passes = bar(mine, len(mine), unit="windows", name="next_token")
answers = joined([measure_answers(model, tokens[number], draws, number) for number in passes], mine)
answers = answers.assign_coords(title=("window", windows["title"].values[mine]))
facts = {"windows": windows.sizes["window"], "population": windows.attrs["population"], "context": options["context"]}
facts |= {"kept": draws.kept.by_protocol(), "dtype": "float32", "seed": p.seed}
words = PARTS["next_token/parts/part_{part}"]
write(answers, snakemake.output.answers, words, **identity(windows, heads), **facts, code=p.code)
