"""What do the heads of a model make of all tokens of a text?"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from attnlimit.attention.regressors import (
    CHUNKS,
    FOLDS,
    clusters,
    feature_count,
    few_keys,
    product_directions,
    spread_step,
)
from attnlimit.base.about import About, Cost, Known, Model, Section, Words
from attnlimit.base.costs import LIMIT_FLOPS, START_BYTES, token_bytes
from attnlimit.base.section_types import Count, InDtype, Number, refuse
from attnlimit.base.words import COUPLINGS, LABELS

# Speeds of one core, from the run on a million tokens (configs/wikipedia-1m.yaml).
FORWARD_FLOPS = 80e9  # a second, of a model reading blocks: extract_embeddings
STORED_NUMBERS = 15e6  # a second, packed and written: extract_embeddings
GEOMETRY_FLOPS = 40e9  # of the covariance of a population, reading included: measure_geometry
APPLIED_FLOPS = 50e9  # of the surrogate on all tokens: apply_surrogate
FITTED_FLOPS = 25e9  # of its regressions in float64: fit_surrogate
FEWEST_QUERIES = 2 * FOLDS  # drawn: the variance within a fold needs two
STORED_BYTES = {"float16": 2, "float32": 4}  # of one number of an embedding on disk


class ExtractEmbeddings(Section):
    """Tokens to the inputs of every attention layer."""

    shards: Count = Field(description="Number of jobs; does not affect results. A job holds its shard in memory.")
    layers: Literal["all", "studied"] = Field(
        description="Which layers are stored: `all` of the model, so that others can be studied later at no cost, or "
        "only those of `layers`; the model is then read no further than the deepest of them."
    )
    dtype: Literal["float16", "float32"] = Field(
        description="Of storage. float16 halves the disk space; each store says what the rounding cost."
    )


class ComputeLimits(InDtype):
    """Attention over the whole population: the limit."""

    block: Count = Field(description="Queries and keys computed at a time; memory grows with it.")
    parts: Count = Field(description="Jobs for each layer; does not affect results.")
    queries: Number = Field(
        description="0: all tokens are queries and the limit is exact; otherwise this many, drawn at random, with the "
        "standard error of the limit stored."
    )
    surrogate: Literal["quadratic", "none"] = Field(
        description="If queries are drawn: what replaces the others. quadratic: a regression on each query, its "
        "squares and its attention to a few keys, corrected by the drawn ones, so it is unbiased and makes the "
        "standard error several times smaller; none: nothing, the limit is that of the drawn queries."
    )
    dtype: Literal["float32", "float64"] = Field(
        description="Of scores and outputs; moments are always summed in float64."
    )


def check(config: Mapping[str, Any], known: Known) -> None:
    """Queries enough for a standard error, and no more than tokens; no more shards than blocks."""
    population, block = (config["tokenize_corpus"][key] for key in ("population", "block"))
    queries = config["compute_limits"]["queries"]
    if 0 < queries < FEWEST_QUERIES:
        why = f"{queries} drawn queries give no standard error; take {FEWEST_QUERIES} or more, or 0 for all"
        refuse("compute_limits.queries", why)
    if queries > population:
        refuse("compute_limits.queries", f"exceeds tokenize_corpus.population {population}; lower it to that")
    if (shards := config["extract_embeddings"]["shards"]) > (blocks := -(-population // block)):
        why = f"{shards} jobs, but tokenize_corpus.population {population} makes {blocks} of tokenize_corpus.block"
        refuse("extract_embeddings.shards", f"{why}; write {blocks} or less")


def has_surrogate(config: Mapping[str, Any]) -> bool:
    """Whether limits are from some of the queries and a surrogate for the others."""
    drawn = 0 < config["compute_limits"]["queries"] < config["tokenize_corpus"]["population"]
    return drawn and config["compute_limits"]["surrogate"] != "none"


def queries_of(config: Mapping[str, Any]) -> int:
    """Queries of a layer's limit: all tokens, unless the config draws some."""
    return config["compute_limits"]["queries"] or config["tokenize_corpus"]["population"]


def stored_numbers(config: Mapping[str, Any], model: Model) -> float:
    """Of the embeddings of the layers that are stored."""
    layers = len(config["layers"]) if config["extract_embeddings"]["layers"] == "studied" else model.layers
    return float(config["tokenize_corpus"]["population"]) * layers * model.features


def embedding_bytes(config: Mapping[str, Any], model: Model) -> float:
    """The embeddings on disk: by far the largest files."""
    return stored_numbers(config, model) * STORED_BYTES[config["extract_embeddings"]["dtype"]]


def output_bytes(config: Mapping[str, Any], model: Model) -> float:
    """The outputs of the queries of one layer, which its limit leaves for first order."""
    return float(queries_of(config)) * model.features * (8 if config["compute_limits"]["dtype"] == "float64" else 4)


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """A token costs 24 D^2 in the matrices of a layer, 4 block D in its attention, and 2 D^2 in the covariance."""
    layers, features, _ = model
    studied, section = len(config["layers"]), config["compute_limits"]
    population, block = (config["tokenize_corpus"][key] for key in ("population", "block"))
    shards, rows = config["extract_embeddings"]["shards"], section["block"]
    passed = max(config["layers"]) if config["extract_embeddings"]["layers"] == "studied" else layers - 1
    forward = population * passed * (24 * features**2 + 4 * block * features)
    kept = CHUNKS + 2 if has_surrogate(config) else queries_of(config) / rows + 1  # covariances of blocks or chunks
    return {
        "extract_embeddings": Cost(
            shards,
            forward / FORWARD_FLOPS + stored_numbers(config, model) / STORED_NUMBERS,
            bytes=START_BYTES
            + 12 * layers * features**2 * 4
            + 2.5 * embedding_bytes(config, model) / shards
            + token_bytes(config),
            cut_by="extract_embeddings.shards",
        ),
        "measure_geometry": Cost(
            studied,
            studied * 2.0 * population * features**2 / GEOMETRY_FLOPS,
            bytes=START_BYTES + 24.0 * rows * features + token_bytes(config),
        ),
        **limit_costs(config, model),
        "merge_limits": Cost(studied, bytes=START_BYTES + 3 * 8.0 * kept * features**2),
    }


def limit_costs(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Of the limits: 4 D for every pair of a query and a key.

    With a surrogate, attend_queries: the attention, and in each part keys and values again, 4 D^2 a token.
    fit_surrogate: for each head and fold a Gram matrix and its eigenvectors, about 10 F^3. apply_surrogate, a token:
    its query 2 D^2, attention to a few keys, and D outputs from F features, their covariance; on some, of each fold.
    """
    features, section, queries = model.features, config["compute_limits"], queries_of(config)
    population, rows, parts = config["tokenize_corpus"]["population"], section["block"], section["parts"]
    width = features // model.heads
    regressors = feature_count(queries, width, product_directions(queries, width))
    predictions = 1 + FOLDS / spread_step(population)
    pairs = 4.0 * features * queries * population
    each_token = 2.0 * features**2 + 4.0 * features * (
        few_keys(queries) + clusters(queries) / 2 + predictions / 2 * (regressors + features)
    )
    fit = model.heads * FOLDS * (queries * regressors**2 + 10.0 * regressors**3)
    blocks_of_job, chunks_of_job = -(-queries // rows // parts) + 1, -(-CHUNKS // parts) + 1
    held = {
        "compute_limits": 28 * 4.0 * rows * features
        + 8.0 * blocks_of_job * features**2
        + 2.5 * output_bytes(config, model) / parts,
        "attend_queries": 12.0 * rows * features + 16.0 * min(queries, 8 * rows) * features,
        "fit_surrogate": 8.0 * section["queries"] * (regressors * 3 + features * 6) + 40.0 * regressors**2,
        "apply_surrogate": 48.0 * rows * features + 8.0 * chunks_of_job * features**2,
    }
    studied, drawn = len(config["layers"]), has_surrogate(config)
    attended = pairs + 4.0 * features**2 * population * parts
    work = {  # jobs and seconds of a layer: of the rules that run
        "compute_limits": (0, 0.0) if drawn else (parts, pairs / LIMIT_FLOPS),
        "attend_queries": (parts, attended / LIMIT_FLOPS) if drawn else (0, 0.0),
        "fit_surrogate": (1, fit / FITTED_FLOPS) if drawn else (0, 0.0),
        "apply_surrogate": (parts, each_token * population / APPLIED_FLOPS) if drawn else (0, 0.0),
    }
    return {
        rule: Cost(
            studied * jobs,
            studied * seconds,
            bytes=START_BYTES + held[rule] + token_bytes(config),
            on_gpu=True,
            cut_by="" if rule == "fit_surrogate" else "compute_limits.parts",
        )
        for rule, (jobs, seconds) in work.items()
    }


# Words of the variables, by store.
CENTRE: Words = {"centre": "point taken off all tokens before they are projected"}
LIMIT: Words = {
    "limit_mean": "mean of the transformed tokens in the limit",
    "limit_covariance": "covariance of the transformed tokens in the limit",
    "residual_share": "variance of the outputs that the surrogate leaves, over all of it",
}
OUTPUTS: Words = {
    "output_count": "queries that the moments are of",
    "output_mean": "mean of the outputs, less their shift",
    "output_scatter": "scatter of the outputs about their mean",
    "output_shift": "W_v centre + b_v, taken off the outputs",
}
ATTENDED: Words = {
    "output": "exact output of a query, less its shift",
    "total": "log-sum-exp of the scores of a query",
    "stands_for": "tokens of the population that a query stands for [tokens]",
}
STORES: dict[str, Words] = {
    "embeddings/shard_{shard}": LABELS
    | {
        "token": "number of the token in the population",
        "tokens": "input of the attention layer",
        "rounding_error": "error of storing the tokens, relative to their spread",
    },
    "geometry/layer_{layer}": LABELS
    | COUPLINGS
    | {"token_mean": "mean of the tokens", "token_covariance": "covariance of the tokens"},
    "limits/layer_{layer}": LABELS | CENTRE | LIMIT,
}
PARTS: dict[str, Words] = {
    "limits/parts/layer_{layer}_part_{part}": LABELS
    | CENTRE
    | OUTPUTS
    | ATTENDED
    | {"fourth_moment": "sum of |y - mean|^4 over the outputs"},
    "limits/outputs/layer_{layer}_part_{part}": LABELS
    | CENTRE
    | ATTENDED
    | {
        "query": "number of the token that was drawn as a query",
        "fold": "fold of a query: it is judged by the fit to the others",
        "stratum": "stratum of a query: the marks of the blocks are drawn apart",
        "stratum_size": "tokens of the population in the stratum [tokens]",
    },
    "limits/surrogate/layer_{layer}": LABELS
    | CENTRE
    | OUTPUTS
    | LIMIT
    | {
        "coefficient": "coefficients of the surrogate, by the fit that left the fold out",
        "fold_share": "share of the drawn queries in the fold",
        "query_centre": "mean query, taken off before it is rotated",
        "rotation": "principal directions of the queries, over standard deviations",
        "few_keys": "keys of the few tokens that a feature attends to",
        "few_values": "values of the few tokens that a feature attends to",
        "few_output_centre": "mean attention to the few keys",
        "few_output_scale": "standard deviation of the attention to the few keys",
        "cluster_keys": "mean keys of clusters whose weights are features",
        "cluster_log_sizes": "logarithm of the number of keys in a cluster",
        "cluster_weight_scale": "standard deviation of the weight of a cluster",
        "directions": "leading coordinates whose products are features",
        "reference": "point about which second moments are taken",
        "residual_mean": "mean of exact output less surrogate",
        "residual_second": "second moment of exact outputs less that of the surrogate, about the reference",
        "unit": "number of the head; -1: the whole layer, its heads side by side",
    },
    "limits/applied/layer_{layer}_part_{part}": LABELS | OUTPUTS | {"chunk": "chunk of the population"},
}

ABOUT = About(
    title="the population and its limit",
    question="What do the heads of a model make of all tokens of a text?",
    uses=("corpus/blocks", "models/heads"),
    sections={"extract_embeddings": ExtractEmbeddings, "compute_limits": ComputeLimits},
    cost=cost,
    check=check,
    stores=STORES,
    parts=PARTS,
)
