"""The kernel against what a user would write: ratios, errors, memory, growth."""

import json
from functools import partial
from pathlib import Path

import numpy as np

from attnlimit.attention.kernel import Heads
from attnlimit.attention.streaming import BLOCKS_AT_ONCE
from attnlimit.base.files import atomic
from attnlimit.base.job import begin
from attnlimit.base.log import bar
from attnlimit.base.seeds import generator
from attnlimit.base.store import read
from attnlimit.bench.contenders import ours, prepare
from attnlimit.bench.guests import guest_records
from attnlimit.bench.limits import HEAD, NOTE, limits_of, table_rows
from attnlimit.bench.measure import Case, growth, large_limit, our_limit, run_case
from attnlimit.bench.memory import peak_megabytes
from attnlimit.bench.table import bench_table
from attnlimit.sampling.surrogate_limits import marks_of
from attnlimit.sources.model.population import atoms, gather
from attnlimit.workflow.amounts import table

p = begin(snakemake)
options = p.settings

corpus, weights = read(snakemake.input.blocks), read(snakemake.input.heads)
ids, positions = corpus["token_id"].values, corpus["position"].values
random = generator(p.seed, "bench_attention")


def grid(low, high):
    return [max(2, int(n)) for n in np.geomspace(low, high, 12) * options["scale"]]


def real(layer, count=None):
    return gather(snakemake.input.embeddings, layer, np.arange(len(ids))[:count]), Heads.of(weights.sel(layer=layer))


def drawn(heads, width, features, scale):
    shapes = [(heads, width, features)] * 3 + [(heads, width)] * 2
    return Heads(*(scale * random.standard_normal(shape, dtype=np.float32) for shape in shapes))


def sample(name, tokens, heads, sizes):
    return Case(name, tokens, heads, random.integers(len(tokens), size=sizes[-1]), sizes)


def limit(layer, count):
    count = min(int(count * options["scale"]), len(ids))
    tokens, heads = real(layer, count)
    rows, counts = atoms(ids[:count], positions[:count], layer)
    return Case(f"limit, layer {layer}, N = {count}", tokens, heads, rows, [2048], counts)


def large(count):
    """A population of this size, of real tokens again and again, each a little moved."""
    count = int(count * options["scale"])
    tokens, heads = real(3)
    drawn = tokens[random.integers(len(tokens), size=count)]
    drawn += 0.1 * tokens.std() * random.standard_normal(drawn.shape, dtype=np.float32)
    return Case(f"limit, layer 3, N = {count}", drawn, heads, np.arange(count), [512], np.ones(count))


gaussian = Heads(*(np.eye(50, dtype=np.float32)[None] * size for size in (2, 1, 1)), *np.zeros((2, 1, 50), np.float32))
bert = sample(
    "BERT-base shape, n 1000-3000",
    random.standard_normal((5000, 768), dtype=np.float32),
    drawn(12, 64, 768, 0.04),
    grid(1000, 3000),
)
cases = [
    sample("MiniLM layer 3, n 1000-3000", *real(3), grid(1000, 3000)),
    bert,
    sample(
        "Gaussian d = 50, n 1000-10000",
        random.standard_normal((10_000, 50), dtype=np.float32),
        gaussian,
        grid(1000, 10_000),
    ),
    limit(0, 8000),
    limit(3, 6000),
]
tokens, heads = real(3)
pool, shift = prepare(tokens, heads)
sizes = [int(n * options["scale"]) for n in (1000, 2000, 4000, 8000)]
rows = random.integers(len(tokens), size=sizes[-1])
by_n = {n: partial(ours, pool, shift, rows, [n]) for n in sizes}
by_population = {len(case.tokens): partial(our_limit, case) for case in (limit(3, n) for n in (3000, 6000, 12_000))}

records = []
for case in bar(cases, total=len(cases), unit="cases", name="bench"):
    records += run_case(case, options["rounds"], random)
remarks = []
if options["guests"]:
    guests, remarks = guest_records(cases[0], Path(snakemake.scriptdir).parent / ".keops", random)
    records = sorted([*records, *guests], key=lambda record: record["case"] != cases[0].name)
records.append(growth("time against n", by_n, options["rounds"], random))
records.append(growth("limit, time against N", by_population, options["rounds"], random))
whole, larger = limit(3, 50_000)._replace(sizes=[512]), large(200_000)
is_mark = marks_of(corpus["block_of_token"].values)[: len(whole.tokens)]
asked = [max(16, int(count * options["scale"])) for count in (2048, 4096, 8192)]
limits = limits_of(whole, is_mark, asked, True, random)
limits += limits_of(larger, np.zeros(len(larger.tokens), bool), asked[1:2], False, random)
records += large_limit(larger, random)
records[-1]["peak_mb"] = peak_megabytes(larger, "ours", blocks=BLOCKS_AT_ONCE // 2)
for record in records:
    if record["case"] == bert.name:  # a process each: not for every case
        record["peak_mb"] = peak_megabytes(bert, record["contender"])

text = f"{bench_table(records, options['rounds'], remarks)}\n\n{table(HEAD, *table_rows(limits))}\n{NOTE}"
print(text)
outputs = snakemake.output
for content, path in (
    (json.dumps(records, indent=1), outputs.records),
    (json.dumps(limits, indent=1), outputs.limits),
    (text, outputs.table),
):
    with atomic(path) as temporary:
        temporary.write_text(content + "\n", encoding="utf-8")
