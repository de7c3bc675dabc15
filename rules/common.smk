# Shared by all rules: the checked config, wildcard constraints, code hashes, file lists. No rules here.
import os
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(workflow.basedir)
SCRIPTS, ENVS = ROOT / "scripts", ROOT / "envs"
sys.path.insert(0, str(SCRIPTS))
from attnlimit.base.code_hash import code_hash  # noqa: E402
from attnlimit.base.files import require_writable  # noqa: E402
from attnlimit.sources.corpus.location import local_files, located  # noqa: E402
from attnlimit.sources.model.files import local_model_files  # noqa: E402
from attnlimit.workflow import registry  # noqa: E402
from attnlimit.workflow.config import check, missing_sources, require_readable  # noqa: E402
from attnlimit.workflow.costs import asked_bytes, asked_seconds, job_seconds, on_gpu  # noqa: E402
from attnlimit.workflow.folders import begin_run, end_run  # noqa: E402
from attnlimit.workflow.overlays import sort_keys, with_origin  # noqa: E402
from attnlimit.workflow.workflow_files import commit, source_sha256  # noqa: E402

try:
    sort_keys(config)  # params are compared as text: the order of keys in an overlay must not change them
    require_writable(".")  # Snakemake itself would fail with a traceback
    ABSENT = missing_sources(config, Path("provenance/config.yaml"), ROOT)  # in a folder restored from an archive
    check(config, ABSENT, ROOT)
    # In the settings, so that a run keeps its name in an archive and in a folder restored from it.
    config["run"] = config["run"] or ("default" if Path.cwd() == ROOT else Path.cwd().name)
    # Files of the user's own are inputs, so that a changed one is read again.
    CORPUS_FILES = local_files(located(config["fetch_corpus"], ROOT))
    if workflow.is_main_process and "fetch_corpus" not in ABSENT:  # not again in every job
        require_readable(config, ROOT)
    MODEL_FILES = local_model_files(located(config["fetch_model"], ROOT), "fetch_model" in ABSENT)
except (ValueError, LookupError, OSError) as error:
    # Not a WorkflowError: Snakemake would print lines of its own after the one that counts.
    sys.exit(with_origin(str(error), workflow.configfiles, config, ROOT))

# The Hugging Face libraries use the network only for a source on the hub, and then by plain HTTP, as tested.
os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_XET="1")
# Where several runs keep the packages they fetch; not a param: it cannot affect results.
if downloads := os.environ.get("ATTNLIMIT_DOWNLOADS"):
    os.environ.update(ATTNLIMIT_DOWNLOADS=os.path.abspath(os.path.join(ROOT, downloads)))
if "HF_HOME" not in os.environ:  # by default, files from the hub are kept in the folder of the run
    hub_cache = os.environ.setdefault("HF_HUB_CACHE", os.path.abspath("results/downloads/hub"))
    os.environ.setdefault("HF_DATASETS_CACHE", os.path.join(hub_cache, "datasets"))
FETCHED = [config["fetch_model"], config["fetch_corpus"], *config["fetch_corpus"]["texts"]]
if "hub" not in [section["source"] for section in FETCHED]:
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")

LAYERS = config["layers"]
SHARDS = range(config["extract_embeddings"]["shards"])
EMBEDDINGS = expand("results/embeddings/shard_{shard}.zarr.zip", shard=SHARDS)
REPLICATES_PER_JOB = config["measure_errors"]["group"] * config["measure_errors"]["groups_per_job"]
ERROR_PARTS = range(-(-config["measure_errors"]["replicates"] // REPLICATES_PER_JOB))
CUT_INTO = [section["parts"] for section in config.values() if isinstance(section, dict) and "parts" in section]
CHAPTERS = config["chapters"]  # what each of them asks and leaves: attnlimit/questions/*/about.py
LEFT_OUT = registry.left_out(CHAPTERS)  # stated by answer, page and archive
STUDIES = config["compare_studies"]["studies"]
STORES = registry.store_files(CHAPTERS, LAYERS, STUDIES)
SOURCES = registry.sources(registry.all_chapters())
TITLES = registry.figures(registry.all_chapters())
FIGURES = [*registry.figures(CHAPTERS), "claims"]
FORMATS = ["pdf", "svg", "png"]
EARLY = 1000  # priority of what reads the user's own files: a fault in them is seen before anything long starts
SHORT = 999  # priority of a job of seconds that others wait for
TARGETS = [f"results/{name}" for name in ("index.html", "answer.txt", "answer.json", "claims.json", "rates.csv")]
TARGETS += expand("results/{name}.csv", name=registry.tables(CHAPTERS))
TARGETS += expand("results/figures/{name}.{format}", name=FIGURES, format=FORMATS)


class Merge(NamedTuple):
    """A store whose parts are joined along a dimension by merge_parts; shared: variables that all parts have alike."""

    parts: list[str]
    dimension: str
    shared: list[str] = []


MERGED = {}  # by path in results/ without ending: the questions add theirs


wildcard_constraints:
    layer="|".join(map(str, LAYERS)),
    shard="|".join(map(str, SHARDS)),
    part="|".join(map(str, range(max([len(ERROR_PARTS), *CUT_INTO])))),
    source="|".join(SOURCES),


def code(script, also=()):
    """Hash of the statements that a job of this script may run, also in modules that it loads by name, and of its env."""
    return code_hash(SCRIPTS / script, (ENVS / script).with_suffix(".yaml"), *also)


def job(rule, also=(), **values):
    """The one param of a rule: a dict, so that Snakemake's records carry names. A value may be a function of wildcards."""
    values["code"] = code(f"{rule}.py", also)
    if not any(map(callable, values.values())):
        return values

    def evaluate(wildcards):
        return {name: value(wildcards) if callable(value) else value for name, value in values.items()}

    evaluate.parameters = values  # read by params_of
    return evaluate


def number(wildcard):
    """A value of a job: the number that a wildcard stands for."""
    return lambda wildcards: int(wildcards[wildcard])


def figures(question):
    """The outputs of a question's figures.

    The report sorts by label: the number puts figures in the order of the story.
    """
    titles = registry.questions()[question].figures
    labels = {name: f"{list(TITLES).index(name) + 1:02d} {title}" for name, title in titles.items()}
    return [file for name in titles for file in figure(name, labels[name], name, "3 Figures")]


def figure(name, label, caption, category):
    """The outputs of a figure: one file a format, of which the report shows the PNG with its caption."""
    *files, png = (f"results/figures/{name}.{form}" for form in FORMATS)
    return [*files, report(png, caption=f"report/{caption}.rst", category=category, labels={"shows": label})]


def fits_at_hand(*names, **called):
    """Inputs of a rule that takes these fits, by name or as called, where the chapters of the run have them."""
    named = {name: name for name in names} | called
    return {key: f"results/rates/{fit}.zarr.zip" for key, fit in named.items() if fit in registry.fits(CHAPTERS)}


def each_layer(store):
    """Paths of a store: one for each layer if its name says so."""
    return [f"results/{name}.zarr.zip" for name in registry.expand(store, "{layer}", LAYERS)]


def merge_simulation(name):
    """A simulation is measured in parts, which have some of its settings each."""
    parts = range(config[f"simulate_{name}"]["parts"])
    files = expand(f"results/synthetic/parts/{name}_part_{{part}}.zarr.zip", part=parts)
    MERGED[f"synthetic/{name}"] = Merge(files, dimension="setting")


def only(section, *keys):
    """The part of a config section that a rule depends on."""
    return {key: section[key] for key in keys}


def without(section, *keys):
    """A config section without keys that cannot affect the results of the rule."""
    return {key: value for key, value in section.items() if key not in keys}


def asked(rule):
    """Resources of a job, from the sizes in the config: memory, time, and a GPU if it computes on one."""
    return {"mem_mb": memory(rule), "runtime": minutes(rule), "gpu": gpus(rule)}


def memory(rule):
    """Resource mem_mb of a job, from the sizes in the config."""
    return growing(asked_bytes(config, rule) / 1e6)


def minutes(rule):
    """Resource runtime of a job, from the sizes in the config."""
    return growing(asked_seconds(config, rule) / 60)


def gpus(rule):
    """Resource gpu of a job that computes on `device`."""
    return int(on_gpu(config, rule))


def growing(amount):
    """A resource scaled by the attempt number."""
    return lambda wildcards, attempt: attempt * round(amount)


def replicates(part):
    """Numbers of the replicates of one job."""
    start = int(part) * REPLICATES_PER_JOB
    return list(range(start, min(start + REPLICATES_PER_JOB, config["measure_errors"]["replicates"])))
