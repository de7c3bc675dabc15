# Shared by all rules: the checked config, wildcard constraints, code hashes, file lists. No rules here.
import ast
import hashlib
import os
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
SCRIPTS, ENVS = ROOT / "scripts", ROOT / "envs"
sys.path.insert(0, str(SCRIPTS))
from attnlimit.costs import asked_bytes, asked_seconds, on_gpu  # noqa: E402
from attnlimit.files import require_writable  # noqa: E402
from attnlimit.location import local_files  # noqa: E402
from attnlimit.model_files import local_model_files  # noqa: E402
from attnlimit.settings import check, sources_away  # noqa: E402
from attnlimit.source import commit, source_sha256  # noqa: E402

try:
    require_writable(".")  # Snakemake itself would fail with a traceback
    away = sources_away(config, ROOT / "provenance/config.yaml")
    check(config, ROOT / "rules/config.schema.yaml", away)
    # Files of the user's own are inputs, so that a changed one is read again.
    CORPUS_FILES = local_files(config["fetch_corpus"])
    MODEL_FILES = local_model_files(config["fetch_model"], "fetch_model" in away)
except (ValueError, LookupError, OSError) as error:
    raise WorkflowError(str(error))

# Without a source on the hub no network is needed, and the Hugging Face libraries are told not to look for one. With
# one, files come by plain HTTP, which is what the tests cover.
os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_XET="1")
if "HF_HOME" not in os.environ:  # what they fetch stays in this folder, unless you say where
    hub_cache = os.environ.setdefault("HF_HUB_CACHE", os.path.abspath("results/downloads/hub"))
    os.environ.setdefault("HF_DATASETS_CACHE", os.path.join(hub_cache, "datasets"))
if "hub" not in (config["fetch_model"]["source"], config["fetch_corpus"]["source"]):
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")

LAYERS = config["layers"]
SHARDS = range(config["extract_embeddings"]["shards"])
LIMIT_PARTS = range(config["compute_limits"]["parts"])
REPLICATES_PER_JOB = config["measure_errors"]["group"] * config["measure_errors"]["groups_per_job"]
ERROR_PARTS = range(-(-config["measure_errors"]["replicates"] // REPLICATES_PER_JOB))
PASS = {key: config["compute_limits"][key] for key in ("block", "queries")}
DRAWS = {key: config["measure_errors"][key] for key in ("nested", "replacement")}
SIMULATIONS = ["gaussian", "gaussian_published", "gaussian_asymptotic", "sphere"]
SOURCES = ["bert", *SIMULATIONS, "ablation"]
FIGURES = ["convergence", "beta_vs_horizon", "heat_map", "local_slopes", "bias_fluctuation", "tails", "ablation"]
FIGURES += ["gaussian_beta_vs_horizon", "gaussian_local_slopes", "gaussian_protocol", "gaussian_asymptotic"]
FIGURES += ["sphere_beta_vs_horizon", "hardmax", "uniform", "normality", "claims"]
FORMATS = ["pdf", "svg", "png"]
TARGETS = [f"results/{name}" for name in ("rates.csv", "answer.txt", "answer.html", "claims.json", "claims.html")]
TARGETS += ["results/provenance.html", *expand("results/figures/{name}.{format}", name=FIGURES, format=FORMATS)]


wildcard_constraints:
    layer="|".join(map(str, LAYERS)),
    shard="|".join(map(str, SHARDS)),
    part="|".join(map(str, range(max(len(LIMIT_PARTS), len(ERROR_PARTS))))),
    source="|".join(SOURCES),


def code(script, **settings):
    """Hash of what a job depends on: its script, the library modules that imports, its env, and named settings.

    Snakemake itself looks at a script's date and never at an imported module; it compares the values of params without
    their names, so that two swapped values look unchanged, unless the names are in here.
    """
    found, queue = {ENVS / Path(script).with_suffix(".yaml")}, [SCRIPTS / script]
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            queue += imported(path)
    digest = hashlib.sha256(repr(sorted(settings.items())).encode())
    for path in sorted(found):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def imported(path):
    """Library modules that a file imports; only `from attnlimit.x import y` is understood."""
    modules = []
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        ours = [name for name in names if name.split(".")[0] == "attnlimit"]
        if ours and (isinstance(node, ast.Import) or ours == ["attnlimit"]):
            raise WorkflowError(f"{path}: write `from attnlimit.module import name`, which code() can follow")
        modules += ours
    return [SCRIPTS.joinpath(*module.split(".")).with_suffix(".py") for module in modules]


def memory(rule):
    """Resource mem_mb of a job, from the sizes in the config; as much again at each further attempt."""
    return growing(asked_bytes(config, rule) / 1e6)


def minutes(rule):
    """Resource runtime of a job, from the sizes in the config; as much again at each further attempt."""
    return growing(asked_seconds(config, rule) / 60)


def growing(amount):
    """A resource of a job that asks for as much again at each further attempt."""
    return lambda wildcards, attempt: attempt * round(amount)


def gpus(rule):
    """Resource gpu of a job that computes on `device`."""
    return int(on_gpu(config, rule))


def replicates(part):
    """Numbers of the replicates of one job."""
    start = int(part) * REPLICATES_PER_JOB
    return list(range(start, min(start + REPLICATES_PER_JOB, config["measure_errors"]["replicates"])))


EMBEDDINGS = expand("results/embeddings/shard_{shard}.zarr.zip", shard=SHARDS)


def errors_of_source(wildcards):
    """Where fit_rates finds the errors of a source, and the geometry if they do not hold it themselves."""
    if wildcards.source == "ablation":
        return {"errors": ["results/ablation/errors.zarr.zip"]}
    if wildcards.source != "bert":
        return {"errors": [f"results/synthetic/{wildcards.source}.zarr.zip"]}
    return {
        "errors": expand("results/errors/layer_{layer}.zarr.zip", layer=LAYERS),
        "geometry": expand("results/geometry/layer_{layer}.zarr.zip", layer=LAYERS),
    }


def archived_rules():
    """Of each rule: the params that all its jobs share, as Snakemake's records show them, and the names of the others."""
    found = {each.name: {"fixed": {}, "varying": []} for each in workflow.rules}
    for each in workflow.rules:
        for name, value in each.params.items():
            if callable(value) or (isinstance(value, str) and "{" in value):  # by wildcards
                found[each.name]["varying"].append(name)
            else:
                found[each.name]["fixed"][name] = repr(value)
    return found
