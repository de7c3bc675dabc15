"""Bring the pinned model into results/, checked, with the projections of its heads in a store of their own."""

from pathlib import Path

from attnlimit.bert import EMBEDDED, FILES, copy_verified, embedded_folder, heads_dataset, load
from attnlimit.journal import open_log
from attnlimit.store import write

open_log(snakemake.log[0])
p, output = snakemake.params, snakemake.output

for name, target in zip(FILES, (output.config, output.tokenizer, output.weights), strict=True):
    copy_verified(embedded_folder() / name, Path(target), p.sha256[name])
heads = heads_dataset(load(Path(output.weights).parent))
write(heads, output.heads, model=EMBEDDED | {"sha256": p.sha256["model.safetensors"]}, code=p.code)
