"""The RO-Crate of a run says how each file was made."""

import pytest
from rocrate.rocrate import ROCrate

from attnlimit.archive.bundle import verified
from attnlimit.archive.crate import read_citation
from support.tiny_run import PART, RATES, SHARD, TEXT, WEIGHTS


def test_the_crate_says_how_each_file_was_made(archive):
    with verified(archive) as contents:
        crate = ROCrate(contents.payload)
    made = crate.get("#split/shard_0")
    assert made.type == "CreateAction"
    assert made["instrument"].id == "scripts/split.py"
    needed = [entity.id for entity in made["instrument"]["softwareRequirements"]]
    assert needed == ["envs/split.yaml", "requirements.lock"]
    assert made["result"].id == SHARD
    assert {f"#{PART}", f"#{WEIGHTS}"} < {entity.id for entity in crate.get("#fetch_model")["result"]}
    assert {f"#{TEXT}", f"#{WEIGHTS}"} <= {entity.id for entity in made["object"]}
    values = {entity["name"]: entity["value"] for entity in made["object"] if entity.type == "PropertyValue"}
    assert values == {"code": "'cd'", "shard": "0", "words": "[7, 8]"}
    assert crate.get("#fit_rates")["result"].id == RATES
    assert (made["startTime"], made["endTime"]) == ("2026-01-01T00:00:00.250+00:00", "2026-01-01T00:01:00.500+00:00")
    assert crate.mainEntity.id == "Snakefile"
    assert [profile.id for profile in crate.root_dataset["conformsTo"]] == [
        "https://w3id.org/ro/wfrun/process/0.5",
        "https://w3id.org/ro/wfrun/workflow/0.5",
        "https://w3id.org/ro/wfrun/provenance/0.5",
        "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
    ]


def test_snakemake_organised_a_step_for_each_job(archive):
    with verified(archive) as contents:
        crate = ROCrate(contents.payload)
    organised = crate.get("#organisation")
    assert (organised["instrument"]["name"], organised["instrument"]["softwareVersion"]) == ("Snakemake", "9.27.1")
    assert organised["result"].id == "#run" and crate.get("#run")["instrument"].id == "Snakefile"
    for control in organised["object"]:
        job, step = control["object"], control["instrument"]
        assert job.type == "CreateAction" and job in crate.root_dataset["mentions"]
        assert step.type == "HowToStep" and step in crate.mainEntity["step"]
        assert step["workExample"] == job["instrument"] and job["instrument"] in crate.mainEntity["hasPart"]
    assert len(organised["object"]) == 3


def test_a_citation_without_a_date_is_refused(tmp_path):
    path = tmp_path / "CITATION.cff"
    path.write_text("title: attnlimit\nversion: 1\n")
    with pytest.raises(ValueError, match="CITATION.cff: no date-released, license, authors"):
        read_citation(path)
