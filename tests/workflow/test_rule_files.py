"""Params of rules as the archive keeps them, and the files of a page that are there."""

from types import SimpleNamespace

from attnlimit.workflow.rule_files import absent, at_hand, params_of


def test_params_are_told_apart_by_whether_wildcards_change_them():
    params = {"seed": 1, "layer": lambda wildcards: 0, "source": "{source}", "settings": {"n": [1, 2]}}
    found = params_of([SimpleNamespace(name="fit_rates", params=params)])
    assert found == {"fit_rates": {"fixed": {"seed": "1", "settings": "{'n': [1, 2]}"}, "varying": ["layer", "source"]}}


def test_a_page_is_made_of_what_is_there_and_names_the_rest(tmp_path):
    here, away = str(tmp_path / "here"), str(tmp_path / "away")
    (tmp_path / "here").touch()
    files = {"one": here, "gone": away, "some": [here, away], "none": [away]}
    assert at_hand(files) == {"one": here, "some": [here]}
    assert absent(files) == [away]
