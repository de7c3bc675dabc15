"""Errors after every layer of the model with keys drawn in all layers, or in one, for a few blocks of text a job."""

from pathlib import Path

from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import share
from attnlimit.base.store import identity, read, write
from attnlimit.questions.propagation.about import PARTS
from attnlimit.questions.propagation.measure import Draws, chosen_blocks, measure_blocks
from attnlimit.sources.model.bert import load, require_readable
from attnlimit.sources.model.files import require_as_fetched

p = begin(snakemake)
options = p.settings

corpus, heads = read(snakemake.input.blocks), read(snakemake.input.heads)
model_files = snakemake.input.config, snakemake.input.weights
require_as_fetched(model_files, heads.attrs["model"]["sha256"], corpus.attrs["tokenizer_sha256"])
block_of_token, page_id = corpus["block_of_token"].values, corpus["page_id"].values
chosen = chosen_blocks(block_of_token, page_id, options["blocks"], round(options["shortest"] * p.block))
texts = {number: corpus["token_id"].values[block_of_token == number] for number in chosen}
mine = share(chosen, p.part, options["parts"])

folder = Path(snakemake.input.weights).parent
model = load(folder)
require_readable(model, list(texts.values()), folder)
draws = Draws(options["sizes"], options["single_sizes"], options["replicates"], options["replacement"], p.seed)
passes = bar((texts[number] for number in mine), total=len(mine), unit="blocks", name="propagation")
errors = measure_blocks(model, passes, mine, draws, heads.sizes["layer"])
facts = {"blocks": len(chosen), "articles": len(set(page_id[chosen].tolist()))}
facts |= {"population": sum(map(len, texts.values()))}  # tokens of these blocks
facts |= {"replacement": options["replacement"], "dtype": "float32", "seed": p.seed}
words = PARTS["propagation/parts/part_{part}"]
write(errors, snakemake.output.errors, words, **identity(corpus, heads), **facts, code=p.code)
