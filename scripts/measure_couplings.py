"""Horizon and constant tilt of every head, over the tokens of all windows."""

from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.store import write
from attnlimit.questions.entry.about import STORES
from attnlimit.questions.entry.measure import pooled_couplings
from attnlimit.sampling.windows import open_windows

p = begin(snakemake)

model, windows, facts = open_windows(snakemake.input, p.device, 0, 1)
texts = bar(windows["token_id"].values, windows.sizes["window"], unit="windows", name="couplings")
couplings = pooled_couplings(model, texts, p.layers)
write(
    couplings,
    snakemake.output.couplings,
    STORES["atlas/couplings"],
    **facts,
    causal=couplings.attrs["causal"],
    code=p.code,
)
