"""What the work on a model costs, from the sizes in a config: time on one core, memory of a job, disk.

Speeds were measured in the default run on one core of a machine with AVX2; the rest is counting. So these are
estimates: good to about a factor of two on another machine, and what jobs ask a cluster for, with room to spare.
"""

from typing import NamedTuple

from attnlimit.parts import share

LIMIT_FLOPS = 48e9  # a second, of float32 attention over a population: compute_limits of the default run
ERROR_FLOPS = 37e9  # of attention on samples with its moments: measure_errors of the default run
FORWARD_FLOPS = 32e9  # of a model reading blocks: extract_embeddings of the default run
GEOMETRY_FLOPS = 20e9  # of the covariance of a population, reading included: measure_geometry on the whole excerpt
GPU_SPEED = 10e12 / LIMIT_FLOPS  # assumed, not measured: half the float32 peak of an A100 against one core
UNIFORM_SPEED = 3.5e8  # pairs of a token and a grid point a second: simulate_uniform of the default run
NORMALITY_SPEED = 3.4e7  # pairs of a token and a tilt a second: simulate_normality of the default run
START_SECONDS = 1.5  # of a job before and after its work: Snakemake's start, Python's, imports
ROUGH_SECONDS = {  # of a job without a model, as in the default run
    "archive_results": 12.0,
    "fetch_model": 7.0,
    "measure_tails": 2.5,
    "simulate_gaussian_asymptotic": 11.0,
    "simulate_hardmax": 12.0,
}
FIGURE_SECONDS = 5.0
OTHER_SECONDS = 2.0
START_BYTES = 500e6  # torch, transformers, xarray, zarr in memory before any work

ON_DEVICE: tuple[str, ...] = ("compute_limits", "measure_errors", "measure_ablation")
CUT_BY_SETTING = ("gaussian", "gaussian_published", "sphere")  # simulations whose settings are shared among jobs
ON_DEVICE += tuple(f"simulate_{name}" for name in CUT_BY_SETTING)
CLUSTER_BYTES = 350e6  # measured: two Snakemakes, which start a job on a node and wait for it
CUDA_BYTES = 3e9  # assumed, not measured: host memory of a process that uses a GPU
GPU_SPEED_ASKED = 10  # of one core, when a job on a GPU asks for time: far below GPU_SPEED, to be safe


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


def geometry_flops(config: dict) -> float:
    """Of one layer's geometry: 2 D^2 a token in the covariance of the population."""
    return 2.0 * config["tokenize_corpus"]["population"] * model_of(config).features ** 2


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
        "measure_geometry": layers * geometry_flops(config) / GEOMETRY_FLOPS,
        "compute_limits": layers * limit_flops(config) / LIMIT_FLOPS,
        "measure_errors": layers * error_flops(config) / ERROR_FLOPS,
    }


def job_count(config: dict) -> dict[str, int]:
    """Jobs of each rule whose cost grows with the population."""
    layers, errors = len(config["layers"]), config["measure_errors"]
    return {
        "extract_embeddings": config["extract_embeddings"]["shards"],
        "measure_geometry": layers,
        "measure_tails": layers,
        "compute_limits": layers * config["compute_limits"]["parts"],
        "merge_limits": layers,
        "measure_errors": layers * -(-errors["replicates"] // (errors["group"] * errors["groups_per_job"])),
        "merge_errors": layers,
        **{f"simulate_{name}": config[f"simulate_{name}"]["parts"] for name in CUT_BY_SETTING},
        "merge_simulations": len(CUT_BY_SETTING),
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
        "measure_tails": START_BYTES + 48.0 * block * features + numbers,  # also projections, fewer than features
        "compute_limits": START_BYTES + 28 * 4.0 * block * features + 8.0 * blocks_of_job * features**2 + numbers,
        "merge_limits": START_BYTES + 3 * 8.0 * (queries_of(config) / block + 1) * features**2,
        "measure_errors": START_BYTES + 5 * 4.0 * drawn * features + 12.0 * groups * len(errors["sizes"]) * features**2,
        "merge_errors": START_BYTES
        + 20.0 * errors["replicates"] / errors["group"] * len(errors["sizes"]) * features**2,
    }


def sample_pairs(section: dict) -> float:
    """Pairs of tokens in the samples of one setting, all replicates."""
    sizes = section["sizes"]
    return section["replicates"] * float(sizes[-1] ** 2 if section["nested"] else sum(size**2 for size in sizes))


def pair_flops(dimension: int) -> float:
    """Of attention between two tokens: 4 d; below 32 dimensions the exponential costs as much as the products."""
    return 4.0 * max(dimension, 32)


def setting_flops(config: dict) -> dict[str, list[float]]:
    """Of attention in each setting of the simulations that are cut by setting, in their order."""
    gaussian, published, sphere = (config[f"simulate_{name}"] for name in CUT_BY_SETTING)
    laws = [d for d in gaussian["dimensions"] for _ in range(1 if d == 1 else 2)]  # isotropic, and not
    dimensions = [d for d in laws for _ in gaussian["scales"]]
    dimensions += [
        gaussian["tilted_dimension"] for _ in gaussian["tilted_horizons"] for _ in gaussian["constant_tilts"]
    ]
    reference = published["reference_tokens"] ** 2 if "finite" in published["references"] else 0
    return {
        "gaussian": [sample_pairs(gaussian) * pair_flops(d) for d in dimensions],
        "gaussian_published": len(published["scales"])
        * [(sample_pairs(published) + reference) * pair_flops(published["dimension"])],
        "sphere": len(sphere["horizons"] + sphere["scales"]) * [sample_pairs(sphere) * pair_flops(sphere["dimension"])],
    }


def largest_share(amounts: list[float], parts: int) -> float:
    """Of work that is cut as `share` does, the part that has most."""
    return max(sum(share(amounts, part, parts)) for part in range(parts))


def simulation_seconds(config: dict) -> dict[str, float]:
    """On one core, the longest job of a simulation."""
    uniform, normality = config["simulate_uniform"], config["simulate_normality"]
    circles, compact_circles = (uniform[f"{law}radii"][-1] / uniform[f"{law}step"] for law in ("", "compact_"))
    on_line = 2 * sum(uniform["sizes"])  # pairs of a token and a ray
    in_plane = uniform["angles"] * sum(size for size in uniform["sizes"] if size <= uniform["largest_in_plane"])
    uniform_pairs = {  # of a token and a grid point, by law
        "gaussian": circles * (on_line + in_plane),
        "interval": compact_circles * on_line,
        "circle": compact_circles * in_plane,
    }
    flops = {
        f"simulate_{name}": largest_share(each, config[f"simulate_{name}"]["parts"])
        for name, each in setting_flops(config).items()
    }
    tilted = len(normality["tilts"]) * sum(normality["sizes"])
    return {rule: count / ERROR_FLOPS for rule, count in flops.items()} | {
        "simulate_uniform": uniform["replicates"] * sum(uniform_pairs[law] for law in uniform["laws"]) / UNIFORM_SPEED,
        "simulate_normality": normality["replicates"] * tilted / NORMALITY_SPEED,
    }


def ablation_seconds(config: dict) -> float:
    """On one core, of measure_ablation: a limit over its population and the samples, for each head and scale.

    One head has a share of a model's features, here a twelfth.
    """
    section = config["measure_ablation"]
    heads = section["heads"] if isinstance(section["heads"], int) else len(section["heads"])
    pairs = float(section["population"]) ** 2 + sample_pairs(section)
    return heads * len(section["scales"]) * pairs * pair_flops(model_of(config).features // 12) / LIMIT_FLOPS


def expected_seconds(config: dict, rule: str) -> float:
    """On one core, one job of any rule, its start included: an estimate, for `make plan`."""
    counted = job_seconds(config) | simulation_seconds(config) | {"measure_ablation": ablation_seconds(config)}
    rough = FIGURE_SECONDS if rule.startswith("plot_") else ROUGH_SECONDS.get(rule, OTHER_SECONDS)
    return 0.0 if rule == "all" else START_SECONDS + counted.get(rule, rough)


def on_gpu(config: dict, rule: str) -> bool:
    """Whether a job asks for a GPU. Only `cuda` does: `auto` must run on a cluster without GPUs."""
    return config["device"] == "cuda" and rule in ON_DEVICE


def asked_bytes(config: dict, rule: str) -> float:
    """Memory that one job asks a cluster for: what it holds and what surrounds it, half as much again."""
    return 1.5 * (job_bytes(config)[rule] + CLUSTER_BYTES + CUDA_BYTES * on_gpu(config, rule))


def asked_seconds(config: dict, rule: str) -> float:
    """Time that one job asks a cluster for: three times the estimate, and ten minutes for all that is not counted."""
    counted = (job_seconds(config) | simulation_seconds(config)).get(rule, 0.0)
    return 600 + 3 * counted / (GPU_SPEED_ASKED if on_gpu(config, rule) else 1)


def stored_bytes(config: dict) -> int:
    """Of one number of an embedding on disk."""
    return {"float16": 2, "float32": 4}[config["extract_embeddings"]["dtype"]]


def disk_bytes(config: dict) -> float:
    """The embeddings of all layers of the model: by far the largest files."""
    layers, features = model_of(config)
    return float(config["tokenize_corpus"]["population"]) * layers * features * stored_bytes(config)
