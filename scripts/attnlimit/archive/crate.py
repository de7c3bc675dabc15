"""The RO-Crate of a run (Workflow Run profile): which job made each file, from which files, how, with what."""

import json
from collections.abc import Iterable
from pathlib import Path

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate
from rocrate.utils import as_list

from attnlimit.archive.bag import AGAIN, files_below
from attnlimit.workflow.snakemake_records import Job

CITED = ("title", "version", "date-released", "license", "authors", "preferred-citation")  # keys that are needed
METADATA = "ro-crate-metadata.json"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
OTHERS = "The code is under the first licence; text and weights, whole or in part, keep theirs: provenance/data.json"
SOFTWARE = ["File", "SoftwareSourceCode"]
FORMATS = {  # by the end of a name; else text
    ".zip": "application/zip",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".html": "text/html",
    ".py": "text/x-python",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
WORKFLOW = [*SOFTWARE, "ComputationalWorkflow"]


def read_citation(path: Path) -> dict:
    """What the software says of itself in CITATION.cff, with all that an archive and a deposit need."""
    citation = yaml.safe_load(path.read_text(encoding="utf-8"))
    missing = [key for key in CITED if not citation.get(key)]
    if missing:
        raise ValueError(f"{path}: no {', '.join(missing)}; an archive and a deposit need it")
    return citation


def name_of(author: dict) -> str:
    """Of a person or a group."""
    return author.get("name") or f"{author.get('given-names', '')} {author['family-names']}".strip()


def describe(files: Iterable[str], jobs: list[Job], targets: list[str], citation: dict, absent: dict[str, str]) -> str:
    """The metadata of a crate of the given files, as JSON; `absent`: files that are left out, and why.

    Actions have no times: the same run twice gives the same crate.
    """
    crate = ROCrate(version="1.1")
    root = crate.root_dataset
    root["name"] = citation["title"]
    root["description"] = f"Results of a run of {citation['title']}, with the workflow that made them."
    root["datePublished"] = str(citation["date-released"])
    root["license"] = [
        thing(crate, f"https://spdx.org/licenses/{citation['license']}", "CreativeWork", name=citation["license"]),
        thing(crate, "#licences", "CreativeWork", name="Licences of others", description=OTHERS),
    ]
    paper = citation["preferred-citation"]
    authors = ", ".join(map(name_of, citation["authors"]))
    root["author"] = thing(crate, "#authors", "Organization", name=authors)
    root["citation"] = thing(crate, paper["url"], "ScholarlyArticle", name=paper["title"])
    profiles = [
        thing(crate, url, "CreativeWork", name=name, version=version) for url, (name, version) in PROFILES.items()
    ]
    root["conformsTo"] = profiles
    crate.metadata["conformsTo"] = [{"@id": "https://w3id.org/ro/crate/1.1"}, profiles[-1]]
    entities = {}
    for name in files:
        described = {"name": name, "encodingFormat": FORMATS.get(Path(name).suffix, "text/plain")}
        entities[name] = crate.add_file(dest_path=name, properties=described)
    for name, why in absent.items():
        entities[name] = thing(crate, f"#{name}", "CreativeWork", name=name, description=f"not in the archive: {why}")
    entities["README.md"]["about"] = root
    root["mainEntity"] = workflow = entities["Snakefile"]
    workflow.properties()["@type"] = WORKFLOW
    workflow["programmingLanguage"] = thing(
        crate,
        "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
        "ComputerLanguage",
        name="Snakemake",
        identifier="https://doi.org/10.1093/bioinformatics/bts480",
        url="https://snakemake.readthedocs.io",
    )
    used = sorted({job.rule for job in jobs})
    workflow["hasPart"] = [entities[f"scripts/{rule}.py"] for rule in used]
    for rule in used:
        script = entities[f"scripts/{rule}.py"]
        script.properties()["@type"] = SOFTWARE
        script["softwareRequirements"] = [entities[f"envs/{rule}.yaml"], entities["requirements.lock"]]
    run = thing(crate, "#run", "CreateAction", name="the run of the workflow")
    run["instrument"] = workflow
    run["object"] = entities["provenance/config.yaml"]
    run["result"] = [entities[name] for name in targets]
    root["mentions"] = [run, *(action(crate, job, entities) for job in jobs)]
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def thing(crate: ROCrate, address: str, kind: str, **properties: str) -> Entity:
    return crate.add(ContextEntity(crate, address, properties={"@type": kind, **properties}))


def action(crate: ROCrate, job: Job, entities: dict[str, Entity]) -> Entity:
    """One job: script, input files and parameters, output files."""
    values = [
        thing(crate, f"#{job.name}/{name}", "PropertyValue", name=name, value=value)
        for name, value in job.parameters.items()
    ]
    made = thing(crate, f"#{job.name}", "CreateAction", name=job.name)
    made["instrument"] = entities[f"scripts/{job.rule}.py"]
    made["object"] = bare([*(entities[name] for name in job.input), *values])
    made["result"] = bare([entities[name] for name in job.output])
    return made


def bare(values: list[Entity]) -> Entity | list[Entity]:
    """JSON-LD prefers one value to a list of one."""
    return values[0] if len(values) == 1 else values


def require_crate(folder: Path, path: Path) -> None:
    """Raise unless the crate describes each file of the folder, and of each result the job that made it."""
    try:
        crate = ROCrate(folder)
        described = {entity.id for entity in crate.data_entities}
        actions = [entity for entity in crate.get_by_type("CreateAction") if entity.id != "#run"]
        made = {result.id for entity in actions for result in as_list(entity["result"])}
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError) as error:
        raise ValueError(f"{path}: {METADATA} is no RO-Crate ({error!r:.200}); {AGAIN}") from error
    present = set(files_below(folder)) - {METADATA}
    for name in sorted(described ^ present):
        wrong = "is described but not there" if name in described else "is not described"
        raise ValueError(f"{path}: {name} {wrong} in {METADATA}; {AGAIN}")
    for name in sorted(name for name in present if name.startswith("results/") and name not in made):
        raise ValueError(f"{path}: {METADATA} names no job that made {name}; {AGAIN}")
