# Shared by all rules: the checked config, wildcard constraints, code hashes, file lists. No rules here.
import os
import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
SCRIPTS, ENVS = ROOT / "scripts", ROOT / "envs"
sys.path.insert(0, str(SCRIPTS))
from attnlimit.workflow import registry  # noqa: E402
from attnlimit.base.code_hash import code_hash  # noqa: E402
from attnlimit.workflow.costs import CUT_BY_SETTING, asked_bytes, asked_seconds, on_gpu  # noqa: E402
from attnlimit.base.files import require_writable  # noqa: E402
from attnlimit.sources.corpus.location import local_files  # noqa: E402
from attnlimit.sources.model.files import local_model_files  # noqa: E402
from attnlimit.workflow.config import check, missing_sources  # noqa: E402
from attnlimit.workflow.folders import begin_run, end_run, located  # noqa: E402
from attnlimit.workflow.overlays import sort_keys, with_origin  # noqa: E402
from attnlimit.workflow.workflow_files import commit, source_sha256  # noqa: E402

try:
    sort_keys(config)  # else params, compared as text, would change with the order of keys in an overlay
    require_writable(".")  # Snakemake itself would fail with a traceback
    away = missing_sources(config, Path("provenance/config.yaml"))  # here only in a folder restored from an archive
    check(config, ROOT / "rules/config.schema.yaml", away, ROOT)
    # In the settings, so that a run keeps its name in an archive and in a folder restored from it.
    config["run"] = config["run"] or ("default" if Path.cwd() == ROOT else Path.cwd().name)
    # Files of the user's own are inputs, so that a changed one is read again.
    CORPUS_FILES = local_files(located(config["fetch_corpus"], ROOT))
    MODEL_FILES = local_model_files(located(config["fetch_model"], ROOT), "fetch_model" in away)
except (ValueError, LookupError, OSError) as error:
    # Not a WorkflowError: Snakemake would print lines of its own after the one that counts.
    sys.exit(with_origin(str(error), workflow.configfiles, config, ROOT))

# Without a source on the hub no network is needed, and the Hugging Face libraries are told not to look for one. With
# one, files come by plain HTTP, which is what the tests cover.
os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_XET="1")
if os.environ.get(
    "ATTNLIMIT_DOWNLOADS"
):  # where several runs keep the packages they fetch: no param, it changes no number
    os.environ.update(ATTNLIMIT_DOWNLOADS=os.path.abspath(os.path.join(ROOT, os.environ.get("ATTNLIMIT_DOWNLOADS"))))
if "HF_HOME" not in os.environ:  # what they fetch stays in this folder, unless you say where
    hub_cache = os.environ.setdefault("HF_HUB_CACHE", os.path.abspath("results/downloads/hub"))
    os.environ.setdefault("HF_DATASETS_CACHE", os.path.join(hub_cache, "datasets"))
if "hub" not in (config["fetch_model"]["source"], config["fetch_corpus"]["source"]):
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")

LAYERS = config["layers"]
SHARDS = range(config["extract_embeddings"]["shards"])
REPLICATES_PER_JOB = config["measure_errors"]["group"] * config["measure_errors"]["groups_per_job"]
ERROR_PARTS = range(-(-config["measure_errors"]["replicates"] // REPLICATES_PER_JOB))
CUT_INTO = [section["parts"] for section in config.values() if isinstance(section, dict) and "parts" in section]
SIMULATION_PARTS = {name: range(config[f"simulate_{name}"]["parts"]) for name in CUT_BY_SETTING}
CHAPTERS = config["chapters"]  # attnlimit/workflow/registry.py computes what each of them brings
LEFT_OUT = registry.left_out(CHAPTERS)  # said by answer, table, claims and provenance
STUDIES = config["compare_studies"]["studies"]
STORES = registry.store_files(CHAPTERS, LAYERS, STUDIES)
FIGURES = [*registry.figures(CHAPTERS), "claims"]
FORMATS = ["pdf", "svg", "png"]
EARLY = 10  # priority of what reads the user's own files: a fault in them shows before anything long starts
SMALL = {"mem_mb": 1000, "runtime": 10}  # resources of a job that reads a few small files
SHOWN = {}  # what each figure shows, in a few words: figure() fills it
TARGETS = [f"results/{name}" for name in ("index.html", "answer.txt", "answer.html", "claims.json", "claims.html")]
TARGETS += ["results/rates.csv", "results/rates.html", "results/provenance.html"]
TARGETS += expand("results/{name}.{format}", name=registry.tables(CHAPTERS), format=["csv", "html"])
TARGETS += expand("results/figures/{name}.{format}", name=FIGURES, format=FORMATS)


wildcard_constraints:
    layer="|".join(map(str, LAYERS)),
    shard="|".join(map(str, SHARDS)),
    part="|".join(map(str, range(max([len(ERROR_PARTS), *CUT_INTO])))),
    cut="|".join(SIMULATION_PARTS),
    source="|".join(registry.sources(registry.all_chapters())),


def code(script):
    """Hash of the statements that a job of this script may run, and of its env file."""
    return code_hash(SCRIPTS / script, (ENVS / script).with_suffix(".yaml"))


def job(rule, **values):
    """The one param of a rule: a dict, so that Snakemake's records carry names. A value may be a function of wildcards."""
    values["code"] = code(f"{rule}.py")
    if not any(map(callable, values.values())):
        return values
    return lambda wildcards: {name: value(wildcards) if callable(value) else value for name, value in values.items()}


def figure(name, shows, caption=None, category="3 Figures"):
    """The outputs of a figure: one file a format, of which the report shows the PNG with its caption.

    The report sorts by label: the number puts the figures in the order of the story.
    """
    files = {form: f"results/figures/{name}.{form}" for form in FORMATS}
    SHOWN[name], order = shows, [*registry.figures(registry.all_chapters())]
    labels = {"shows": f"{order.index(name) + 1:02d} {shows}" if name in order else shows}
    shown = report(files["png"], caption=f"report/{caption or name}.rst", category=category, labels=labels)
    return files | {"png": shown}


def fits_at_hand(*names, **called):
    """Of these fits, those that the chapters of the run bring: what an input calls them, and where they are."""
    named = {name: name for name in names} | called
    return {key: f"results/rates/{fit}.zarr.zip" for key, fit in named.items() if fit in registry.fits(CHAPTERS)}


def only(section, *keys):
    """The part of a config section that a rule depends on."""
    return {key: section[key] for key in keys}


def without(section, *keys):
    """A config section but for keys that change none of the rule's numbers."""
    return {key: value for key, value in section.items() if key not in keys}


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
    """Where fit_rates finds the errors of a source: a store a layer of the model, one store of anything else."""
    store = registry.sources(registry.all_chapters())[wildcards.source]
    return expand(f"results/{store}.zarr.zip", layer=LAYERS) if "{layer}" in store else f"results/{store}.zarr.zip"
