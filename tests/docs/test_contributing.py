"""Tables of CONTRIBUTING.md: files that it names are there, rooms are those of the contracts."""

import re
import tomllib

from support.workflow import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def test_files_that_a_number_leads_to_are_there():
    table = re.search(r"## From a number to its code\n(.*?)\n## ", TEXT, re.S)[1]
    for row in re.findall(r"^\| .+ \| `.+ \|$", table, re.M):
        names = re.findall(r"`([\w/]+\.(?:py|smk))`", row)
        assert 0 < len(names) <= 5
        for name in names:
            places = [ROOT / name, ROOT / "rules" / name, ROOT / "scripts/attnlimit" / name]
            assert any(place.is_file() for place in places), name


def test_the_table_of_rooms_is_that_of_the_contracts():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rooms = re.search(r"<!-- rooms -->\n(.*?)<!-- /rooms -->", TEXT, re.S)[1].splitlines()[2:]
    assert [re.findall(r"`(\w+)`", row.split(" | ")[0]) for row in rooms] == [layer.split(" | ") for layer in layers]
