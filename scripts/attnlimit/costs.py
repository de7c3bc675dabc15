"""What the work on a model costs, from the sizes in a config: time on one core, memory of a job, disk.

Speeds were measured in the default run on one core of a machine with AVX2; the rest is counting. So these are
estimates: good to about a factor of two on another machine, and what jobs ask a cluster for, with room to spare.
"""

from typing import NamedTuple

LIMIT_FLOPS = 48e9  # a second, of float32 attention over a population: compute_limits of the default run
ERROR_FLOPS = 37e9  # of attention on samples with its moments: measure_errors of the default run
FORWARD_FLOPS = 32e9  # of a model reading blocks: extract_embeddings of the default run
GPU_SPEED = 10e12 / LIMIT_FLOPS  # assumed, not measured: half the float32 peak of an A100 against one core
START_BYTES = 500e6  # torch, transformers, xarray, zarr in memory before any work


class Model(NamedTuple):
    """The shape of a model."""

    layers: int
    features: int


KNOWN = {"embedded": Model(6, 384)}
ASSUMED = Model(12, 768)  # the shape of BERT-base, for a model that is not here yet; a larger one needs more


def model_of(config: dict) -> Model:
    return KNOWN.get(config["fetch_model"]["source"], ASSUMED)


def queries_of(config: dict) -> int:
    """Queries of a layer's limit: all tokens, unless the config draws some."""
    return config["compute_limits"]["queries"] or config["tokenize_corpus"]["population"]


def embedding_flops(config: dict) -> float:
    """Of reading the population once: 24 D^2 in the matrices of a layer and 4 block D in its attention, a token."""
    layers, features = model_of(config)
    population, block = (config["tokenize_corpus"][key] for key in ("population", "block"))
    return population * layers * (24 * features**2 + 4 * block * features)


def limit_flops(config: dict) -> float:
    """Of one layer's limit: 4 D for every pair of a query and a key."""
    return 4.0 * model_of(config).features * queries_of(config) * config["tokenize_corpus"]["population"]


def error_flops(config: dict) -> float:
    """Of one layer's errors: attention at the largest n serves all nested sizes; moments cost 2 n D^2 at each."""
    settings, features = config["measure_errors"], model_of(config).features
    sizes = settings["sizes"]
    pairs = sizes[-1] ** 2 if settings["nested"] else sum(size**2 for size in sizes)
    return settings["replicates"] * (4.0 * features * pairs + 2.0 * features**2 * sum(sizes))


def seconds(config: dict) -> dict[str, float]:
    """On one core, all jobs of a rule together."""
    layers = len(config["layers"])
    return {
        "extract_embeddings": embedding_flops(config) / FORWARD_FLOPS,
        "compute_limits": layers * limit_flops(config) / LIMIT_FLOPS,
        "measure_errors": layers * error_flops(config) / ERROR_FLOPS,
    }


def job_count(config: dict) -> dict[str, int]:
    """Jobs of each rule whose cost grows with the population."""
    layers, errors = len(config["layers"]), config["measure_errors"]
    return {
        "extract_embeddings": config["extract_embeddings"]["shards"],
        "measure_geometry": layers,
        "compute_limits": layers * config["compute_limits"]["parts"],
        "merge_limits": layers,
        "measure_errors": layers * -(-errors["replicates"] // (errors["group"] * errors["groups_per_job"])),
        "merge_errors": layers,
    }


def job_seconds(config: dict) -> dict[str, float]:
    """On one core, one job of a rule."""
    return {rule: total / job_count(config)[rule] for rule, total in seconds(config).items()}


def job_bytes(config: dict) -> dict[str, float]:
    """Memory of one job of a rule: what it holds at once, each array counted."""
    layers, features = model_of(config)
    population, errors = config["tokenize_corpus"]["population"], config["measure_errors"]
    block, parts = config["compute_limits"]["block"], config["compute_limits"]["parts"]
    shard = population / config["extract_embeddings"]["shards"] * layers * features * stored_bytes(config)
    numbers = 40.0 * population  # token numbers, words, positions, counts
    groups = errors["groups_per_job"]
    drawn = min(population, groups * errors["group"] * errors["sizes"][-1])
    blocks_of_job = -(-queries_of(config) // block // parts) + 1
    return {
        "extract_embeddings": START_BYTES + 12 * layers * features**2 * 4 + 2.5 * shard + numbers,
        "measure_geometry": START_BYTES + 24.0 * block * features + numbers,
        "compute_limits": START_BYTES + 28 * 4.0 * block * features + 8.0 * blocks_of_job * features**2 + numbers,
        "merge_limits": START_BYTES + 3 * 8.0 * (queries_of(config) / block + 1) * features**2,
        "measure_errors": START_BYTES + 5 * 4.0 * drawn * features + 12.0 * groups * len(errors["sizes"]) * features**2,
        "merge_errors": START_BYTES
        + 20.0 * errors["replicates"] / errors["group"] * len(errors["sizes"]) * features**2,
    }


def stored_bytes(config: dict) -> int:
    """Of one number of an embedding on disk."""
    return {"float16": 2, "float32": 4}[config["extract_embeddings"]["dtype"]]


def disk_bytes(config: dict) -> float:
    """The embeddings of all layers of the model: by far the largest files."""
    layers, features = model_of(config)
    return float(config["tokenize_corpus"]["population"]) * layers * features * stored_bytes(config)
