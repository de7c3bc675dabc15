"""Params of rules as the archive keeps them, and the files of a page that are there."""

from types import SimpleNamespace

from attnlimit.workflow.rule_files import absent, at_hand, params_of


def test_parameters_that_depend_on_wildcards_have_no_value_yet():
    def evaluate(wildcards):
        return {"code": "ab", "layer": int(wildcards.layer)}

    evaluate.parameters = {"code": "ab", "layer": lambda wildcards: int(wildcards.layer)}
    rules = [
        SimpleNamespace(name="fit_rates", params={"job": {"seed": 1, "settings": {"n": [1, 2]}}}),
        SimpleNamespace(name="measure_errors", params={"job": evaluate}),
        SimpleNamespace(name="all", params={}),
    ]
    assert params_of(rules) == {
        "fit_rates": {"seed": "1", "settings": "{'n': [1, 2]}"},
        "measure_errors": {"code": "'ab'", "layer": None},
    }


def test_a_page_is_made_of_what_is_there_and_names_the_rest(tmp_path):
    here, missing = str(tmp_path / "here"), str(tmp_path / "missing")
    (tmp_path / "here").touch()
    files = {"one": here, "gone": missing, "some": [here, missing], "none": [missing]}
    assert at_hand(files) == {"one": here, "some": [here]}
    assert absent(files) == [missing]
