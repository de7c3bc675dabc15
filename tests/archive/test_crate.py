"""The RO-Crate of a run says how each file was made."""

import pytest
from rocrate.rocrate import ROCrate

from attnlimit.archive.bundle import verified
from attnlimit.archive.crate import read_citation
from support.tiny_run import RATES, SHARD, TEXT, WEIGHTS


def test_the_crate_says_how_each_file_was_made(archive):
    with verified(archive) as contents:
        crate = ROCrate(contents.payload)
    made = crate.get("#split/shard_0")
    assert made.type == "CreateAction"
    assert made["instrument"].id == "scripts/split.py"
    needed = [entity.id for entity in made["instrument"]["softwareRequirements"]]
    assert needed == ["envs/split.yaml", "requirements.lock"]
    assert made["result"].id == SHARD
    assert {f"#{TEXT}", f"#{WEIGHTS}"} <= {entity.id for entity in made["object"]}
    values = {entity["name"]: entity["value"] for entity in made["object"] if entity.type == "PropertyValue"}
    assert values == {"code": "'cd'", "shard": "0", "words": "[7, 8]"}
    assert crate.get("#fit_rates")["result"].id == RATES
    assert crate.mainEntity.id == "Snakefile"
    assert [profile.id for profile in crate.root_dataset["conformsTo"]] == [
        "https://w3id.org/ro/wfrun/process/0.5",
        "https://w3id.org/ro/wfrun/workflow/0.5",
        "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
    ]


def test_a_citation_without_a_date_is_refused(tmp_path):
    path = tmp_path / "CITATION.cff"
    path.write_text("title: attnlimit\nversion: 1\n")
    with pytest.raises(ValueError, match="CITATION.cff: no date-released, license, authors"):
        read_citation(path)
