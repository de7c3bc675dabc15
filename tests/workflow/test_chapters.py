"""What each chapter brings, and what a run says of those it leaves out."""

import re

import pytest
import yaml

from attnlimit.workflow.chapters import (
    APART,
    CHAPTERS,
    JUDGED,
    brought,
    chapters_of_claims,
    fitted,
    left_out,
    store_files,
)
from attnlimit.workflow.costs import CUT_BY_SETTING
from support.configs import DEFAULT, ROOT, SCHEMA

ALL = [name for name in CHAPTERS if name != APART]


def rules() -> str:
    return "\n".join(path.read_text() for path in ROOT.glob("rules/*.smk"))


def test_config_and_schema_name_all_chapters_in_the_order_of_the_story():
    schema = yaml.safe_load(SCHEMA.read_text())
    assert schema["properties"]["chapters"]["items"]["enum"] == [*DEFAULT["chapters"], APART] == [*ALL, APART]


def test_every_figure_of_a_rule_is_in_one_chapter():
    drawn = set(re.findall(r'\*\*figure\("(\w+)"', rules())) - {"claims"}
    figures = [name for chapter in CHAPTERS.values() for name in chapter.figures]
    assert sorted(figures) == sorted(drawn)


def test_every_simulation_is_in_theory():
    simulated = {*re.findall(r'"results/synthetic/(\w+)\.zarr\.zip"', rules()), *CUT_BY_SETTING}
    assert {f"synthetic/{name}" for name in simulated} == set(CHAPTERS["theory"].stores)


def test_heads_alone_bring_no_simulation_and_no_ablation():
    stores = store_files(["heads"], [0, 5])
    assert [name for name in stores if re.search("synthetic|ablation|tails", name)] == []
    assert "results/errors/layer_5.zarr.zip" in stores and "results/rates/heads.zarr.zip" in stores
    assert fitted(["heads"]) == ["heads"]
    assert brought("figures", ["heads"])[0] == "beta_vs_horizon"


def test_chapters_add_up_and_their_order_is_of_no_matter():
    one_by_one = [store for name in ALL for store in store_files([name], [3])]
    assert sorted(set(one_by_one)) == sorted(store_files(ALL, [3]))
    assert store_files(ALL[::-1], [3]) == store_files(ALL, [3])
    assert len(set(store_files(ALL, [3]))) == len(store_files(ALL, [3]))


@pytest.mark.parametrize("chapters", [["heads"], ["theory"], ["tails", "ablation"], ALL])
def test_every_fit_that_claims_need_is_there_or_has_a_chapter(chapters):
    others = chapters_of_claims(chapters)
    assert set(others) == set(JUDGED) - set(fitted(chapters)) - {APART}
    assert set(others.values()) == set(ALL) - set(chapters) - {"tails"}


def test_what_is_left_out_is_named():
    assert left_out(ALL) == ""
    line = left_out(["tails", "heads"])
    assert line.startswith("left out: ablation (") and "theory (simulated" in line and "tails (" not in line
    assert APART not in line


def test_a_comparison_stands_apart():
    assert left_out([APART]) == "" and chapters_of_claims([APART]) == {}
    assert fitted([APART]) == ["studies"]
    stores = store_files([APART], [0, 1], {"code": "runs/code", "wikipedia": "."})
    assert stores == [f"results/{name}.zarr.zip" for name in ("studies/code", "studies/wikipedia", "rates/studies")]
