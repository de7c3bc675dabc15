"""The RO-Crate of a run (Provenance Run Crate): which job made each file, when, from which files, how, with what."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
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
    "https://w3id.org/ro/wfrun/provenance/0.5": ("Provenance Run Crate", "0.5"),
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
WORKFLOW = [*SOFTWARE, "ComputationalWorkflow", "HowTo"]
DONE = "http://schema.org/CompletedActionStatus"


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


def describe(
    files: Iterable[str], jobs: list[Job], targets: list[str], citation: dict, absent: dict[str, str], engine: str
) -> str:
    """The metadata of a crate of the given files, as JSON; `absent`: files that are left out, and why.

    A rule is a step of the workflow (HowToStep), its script the tool of that step. A job is an action of the tool,
    controlled by the step; Snakemake, whose version is `engine`, organised them all. Times alone differ in two runs.
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
    workflow["version"] = str(citation["version"])
    workflow["programmingLanguage"] = thing(
        crate,
        "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
        "ComputerLanguage",
        name="Snakemake",
        identifier="https://doi.org/10.1093/bioinformatics/bts480",
        url="https://snakemake.readthedocs.io",
        version=engine,
    )
    steps = add_steps(crate, workflow, sorted({job.rule for job in jobs}), entities)
    actions = [action(crate, job, entities) for job in jobs]
    run = performed(crate, "#run", "CreateAction", "the run of the workflow", jobs)
    run["instrument"] = workflow
    run["object"] = entities["provenance/config.yaml"]
    run["result"] = bare([entities[name] for name in targets])
    controls = []
    for job, made in zip(jobs, actions, strict=True):
        controls.append(thing(crate, f"#control/{job.name}", "ControlAction", name=f"start {job.name}"))
        controls[-1]["instrument"] = steps[job.rule]
        controls[-1]["object"] = made
    organised = performed(crate, "#organisation", "OrganizeAction", f"Snakemake {engine} runs the jobs", jobs)
    organised["instrument"] = thing(
        crate,
        f"https://pypi.org/project/snakemake/{engine}/",
        "SoftwareApplication",
        name="Snakemake",
        softwareVersion=engine,
        url="https://snakemake.readthedocs.io",
    )
    organised["object"] = controls
    organised["result"] = run
    root["mentions"] = [organised, run, *actions]
    operator = thing(crate, "#operator", "Organization", name="whoever ran it", description="not recorded")
    for entity in root["mentions"]:
        entity["agent"] = operator
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def thing(crate: ROCrate, address: str, kind: str, **properties: str) -> Entity:
    return crate.add(ContextEntity(crate, address, properties={"@type": kind, **properties}))


def add_steps(crate: ROCrate, workflow: Entity, rules: list[str], entities: dict[str, Entity]) -> dict[str, Entity]:
    """The steps of the workflow by rule, each with its tool: the script of that name, and what that needs."""
    steps = {}
    for rule in rules:
        script = entities[f"scripts/{rule}.py"]
        script.properties()["@type"] = SOFTWARE
        script["version"] = workflow["version"]
        script["softwareRequirements"] = [entities[f"envs/{rule}.yaml"], entities["requirements.lock"]]
        steps[rule] = thing(crate, f"Snakefile#{rule}", "HowToStep", name=rule)
        steps[rule]["workExample"] = script
    workflow["hasPart"] = [entities[f"scripts/{rule}.py"] for rule in rules]
    workflow["step"] = list(steps.values())
    return steps


def performed(crate: ROCrate, address: str, kind: str, name: str, jobs: list[Job]) -> Entity:
    """An action that has succeeded, from the start of the first of some jobs to the end of the last."""
    made = thing(crate, address, kind, name=name, description=name)
    starts, ends = [job.start for job in jobs if job.start], [job.end for job in jobs if job.end]
    if starts and ends:
        made["startTime"], made["endTime"] = iso(min(starts)), iso(max(ends))
    made["actionStatus"] = DONE
    return made


def iso(seconds: float) -> str:
    """A time since 1970 as a date."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def action(crate: ROCrate, job: Job, entities: dict[str, Entity]) -> Entity:
    """One job: script, input files and parameters, output files, start and end."""
    values = [
        thing(crate, f"#{job.name}/{name}", "PropertyValue", name=name, value=value)
        for name, value in job.parameters.items()
    ]
    made = performed(crate, f"#{job.name}", "CreateAction", job.name, [job])
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
        raise ValueError(f"{path}: {METADATA} is not an RO-Crate ({error!r:.200}); {AGAIN}") from error
    present = set(files_below(folder)) - {METADATA}
    for name in sorted(described ^ present):
        wrong = "is described but not there" if name in described else "is not described"
        raise ValueError(f"{path}: {name} {wrong} in {METADATA}; {AGAIN}")
    for name in sorted(name for name in present if name.startswith("results/") and name not in made):
        raise ValueError(f"{path}: {METADATA} names no job that made {name}; {AGAIN}")
