"""Embeddings of texts, and scores of a classifier, when every layer attends to drawn keys: one share of the texts."""

from pathlib import Path

import numpy as np
import xarray as xr

from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.parts import share
from attnlimit.base.store import identity, read, write
from attnlimit.questions.downstream.about import PARTS
from attnlimit.questions.downstream.measure import Drawing, dense_embedding, measure_text, tokens_of
from attnlimit.sources.model.bert import load, require_readable
from attnlimit.sources.model.classifier import load_head
from attnlimit.sources.model.files import require_as_fetched

p = begin(snakemake)
options = p.settings

texts, heads = read(snakemake.input.texts), read(snakemake.input.heads)
model_files = snakemake.input.config, snakemake.input.weights
require_as_fetched(model_files, heads.attrs["model"]["sha256"], texts.attrs["tokenizer_sha256"])
folder, tokens = Path(snakemake.input.weights).parent, tokens_of(texts)
model = load(folder)
require_readable(model, tokens, folder)
classifier = load_head(folder) if options["task"] == "classifier" else None

drawing = Drawing.of(options, p.seed)
asked, training = (
    share(np.flatnonzero(texts["training"].values == training).tolist(), p.part, options["parts"])
    for training in (False, True)
)
if not asked:
    raise ValueError(f"measure_downstream.parts: {options['parts']} jobs for fewer texts; lower it")
measured = xr.concat(
    [
        measure_text(model, heads, classifier, tokens[text], text, drawing)
        for text in bar(asked, len(asked), unit="texts", name="downstream")
    ],
    "text",
    data_vars="all",
    coords="minimal",
    compat="override",
)
if training:
    embeddings = np.stack([dense_embedding(model, tokens[text]) for text in training])
    measured = measured.assign_coords(training_text=training).assign(
        training_embedding=(("training_text", "feature"), embeddings)
    )
facts = {"replacement": options["replacement"], "seed": p.seed}
words = PARTS["downstream/parts/{text_part}"]
write(measured, snakemake.output.downstream, words, **identity(texts, heads), **facts, code=p.code)
