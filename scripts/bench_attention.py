"""The kernel against what a user would write: ratios, errors, memory, growth."""

import json
from functools import partial

import numpy as np
import torch

from attnlimit.attention.kernel import Heads
from attnlimit.bench.contenders import ours, prepare
from attnlimit.bench.measure import Case, growth, ideal_seconds, our_limit, peak_megabytes, roofline, run_case
from attnlimit.bench.table import table
from attnlimit.files import atomic
from attnlimit.log import bar, open_log
from attnlimit.model.population import atoms, gather
from attnlimit.seeds import generator
from attnlimit.store import read

open_log(snakemake.log[0])
torch.set_num_threads(snakemake.threads)
p, options = snakemake.params, snakemake.params.settings

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
    name = f"limit, layer {layer}, N = {count}"
    return Case(name, tokens, heads, rows, [8192], counts, affordable=count <= 20_000)


gaussian = Heads(*(np.eye(50, dtype=np.float32)[None] * size for size in (2, 1, 1)), *np.zeros((2, 1, 50), np.float32))
cases = [
    sample("MiniLM layer 3, n 1000-3000", *real(3), grid(1000, 3000)),
    sample(
        "BERT-base shape, n 1000-3000",
        random.standard_normal((5000, 768), dtype=np.float32),
        drawn(12, 64, 768, 0.04),
        grid(1000, 3000),
    ),
    sample(
        "Gaussian d = 50, n 1000-30000",
        random.standard_normal((30_000, 50), dtype=np.float32),
        gaussian,
        grid(1000, 30_000),
    ),
    *[limit(layer, count) for layer, count in ((0, 20_000), (3, 20_000), (0, 50_000))],
]
flops, exponentials = roofline(options["repeats"])
records = []
for case in bar(cases, total=len(cases), unit="cases", name="bench"):
    repeats = options["limit_repeats"] if case.counts is not None else options["repeats"]
    for record in run_case(case, repeats, random):
        ideal = ideal_seconds(case, record["contender"], flops, exponentials)
        records.append(record | {"fraction_of_roofline": ideal / record["seconds"]})

tokens, heads = real(3)
pool, shift = prepare(tokens, heads)
sizes = [int(n * options["scale"]) for n in (1000, 2000, 4000, 8000)]
rows = random.integers(len(tokens), size=sizes[-1])
records.append(growth("time against n", sizes, lambda n: partial(ours, pool, shift, rows, [n]), options["repeats"]))
sizes = [int(n * options["scale"]) for n in (4000, 8000, 16_000)]
records.append(
    growth(
        "limit, time against N",
        sizes,
        lambda n: partial(our_limit, limit(3, n / options["scale"])),
        options["limit_repeats"],
    )
)

many = int(200_000 * options["scale"])
large = Case("", random.standard_normal((many, 384), dtype=np.float32), heads, np.arange(many), [2048], np.ones(many))
peak = peak_megabytes(large, "ours", blocks=9)  # one group of queries and the start of the next; the rest repeats that
empty = dict.fromkeys(records[0])
records.append(empty | {"case": f"limit, N = {many}, memory", "contender": "ours", "peak_mb": peak})

text = table(records, flops, exponentials, snakemake.threads)
print(text)
for content, path in ((json.dumps(records, indent=1), snakemake.output.records), (text, snakemake.output.table)):
    with atomic(path) as temporary:
        temporary.write_text(content + "\n")
