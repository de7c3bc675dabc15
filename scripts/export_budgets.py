"""Budgets of KV heads as a table, and in the formats that kvpress and DuoAttention load."""

import json
from pathlib import Path

import numpy as np

from attnlimit.base.files import atomic
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.questions.keys.budgets import budgets_table, full_attention, prune_ratios
from attnlimit.stats.table import write_csv

p = begin(snakemake)

rates, output = read(snakemake.input.rates), snakemake.output
context = rates.attrs["context"]
write_csv(budgets_table(rates), output.csv)
with atomic(output.ratios) as temporary, Path(temporary).open("wb") as file:
    np.save(file, prune_ratios(rates, context).astype(np.float32), allow_pickle=False)
with atomic(output.heads) as temporary:
    np.savetxt(temporary, full_attention(rates, context), fmt="%.6f", delimiter="\t")
with atomic(output.sizes) as temporary:
    sizes = {"sink_size": p.settings["first"], "recent_size": p.settings["last"]}
    Path(temporary).write_text(json.dumps(sizes) + "\n", encoding="utf-8")
