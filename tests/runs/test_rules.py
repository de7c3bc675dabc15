"""Rules, as Snakemake reads them, are named after their files and make what the questions declare."""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from attnlimit.cli.forecast import loaded_workflow
from attnlimit.workflow.registry import abouts, all_chapters, questions, tables
from support.envs import ROOT, SCRIPTS

WILDCARDS = {"{layer}": "0", "{part}": "0", "{text_part}": "0", "{shard}": "0", "{study}": "none"}  # as by default


@cache
def rules() -> dict[str, dict]:
    """Of each rule but `all`: its files, what its jobs ask for, and whether they run where Snakemake runs."""
    with TemporaryDirectory() as folder, loaded_workflow(ROOT, Path(folder)) as loaded:
        loaded.dag()  # which reads them
        workflow = loaded._workflow
        return {
            rule.name: {
                "local": rule.name in workflow._localrules,
                "resources": sorted(set(rule.resources) & {"mem_mb", "runtime", "gpu"}),
                "output": list(map(str, rule.output)),
                "makes": [file.regex().pattern for file in rule.output],
                "log": list(map(str, rule.log)),
                "benchmark": str(rule.benchmark),
                "script": str(rule.script),
                "conda": str(rule.conda_env),
                "params": list(rule.params.keys()),
            }
            for rule in workflow.rules
            if not rule.norun
        }


def makers(path: str) -> list[str]:
    """Rules that make this file."""
    return [name for name, rule in rules().items() if any(re.fullmatch(made, path) for made in rule["makes"])]


def test_one_name_leads_from_a_rule_to_its_script_env_log_and_timing():
    """So no rule has a shell either, which might read a value of the config as a command."""
    for name, rule in rules().items():
        assert rule["script"] == f"../scripts/{name}.py" and rule["conda"] == f"../envs/{name}.yaml"
        assert all(log.startswith(f"results/logs/{name}/") for log in rule["log"]) and rule["log"], name
        assert rule["benchmark"].startswith(f"results/benchmarks/{name}/")
        assert rule["params"] == ["job"], name


def test_a_job_that_queues_says_what_it_asks_for_and_no_other_does():
    for name, rule in rules().items():
        assert rule["local"] == (rule["resources"] == []), name
        assert rule["local"] or {"mem_mb", "runtime"} <= set(rule["resources"]), name


def test_what_takes_seconds_or_the_network_does_not_queue():
    small = ("fetch_", "fit_", "plot_", "state_", "tabulate_")
    long = {"fit_surrogate"}  # it reads the population's tokens
    assert {name for name, rule in rules().items() if not rule["local"] and name.startswith(small)} == long


@pytest.mark.parametrize("name", abouts())
def test_every_store_that_is_declared_is_made_by_one_rule(name):
    for store in (*abouts()[name].stores, *abouts()[name].parts):
        path = re.sub(r"\{\w+\}", lambda hit: WILDCARDS[hit[0]], store)
        assert len(makers(f"results/{path}.zarr.zip")) == 1, store


def test_every_store_that_a_rule_makes_is_declared():
    declared = {
        re.sub(r"\{\w+\}", "*", store) for about in abouts().values() for store in (*about.stores, *about.parts)
    }
    outputs = [output for name, rule in rules().items() for output in rule["output"] if output.endswith(".zarr.zip")]
    for output in outputs:
        plain = re.sub(r"\{\w+,.*?\}", "*", output).removeprefix("results/").removesuffix(".zarr.zip")
        assert plain in declared | {"*", "rates/*"}, output  # of merge_parts and fit_rates, whose wildcards name stores


def test_every_figure_and_table_of_a_question_is_made_by_its_own_rule():
    for question, about in questions().items():
        for name in about.figures:
            assert makers(f"results/figures/{name}.svg") == [f"plot_{question}"]
    for name in tables(all_chapters()):
        assert makers(f"results/{name}.csv") == [f"tabulate_{name}"]


def test_a_question_has_rules_of_its_own():
    for name, about in questions().items():
        text = Path(ROOT, f"rules/{name}.smk").read_text()
        assert text.startswith(f"# {about.question}") and "\n# INPUTS" in text and "\n# OUTPUTS" in text
        assert (f"rule plot_{name}:" in text) == bool(about.figures)


def test_a_script_that_saves_a_figure_says_whether_the_run_is_a_quick_look():
    writers = {
        path.stem: text for path in SCRIPTS.glob("*.py") if re.search(r"(?<!np\.)\bsave\(", text := path.read_text())
    }
    assert writers.keys() >= {name for name in rules() if name.startswith("plot_")}
    assert [name for name, text in writers.items() if "quick_look" not in text] == []


@pytest.mark.parametrize("perturb", ["none", "words"])
def test_another_seed_fetches_the_text_again_only_if_it_is_perturbed(tmp_path, perturb):
    seen = []
    for seed in (1, 2):
        overlay = tmp_path / f"{seed}.yaml"
        overlay.write_text(f"seed: {seed}\nfetch_corpus: {{perturb: {perturb}}}\n")
        with loaded_workflow(ROOT, tmp_path / "run", [overlay]) as loaded:
            loaded.dag()
            seen.append(loaded._workflow.get_rule("fetch_corpus").params.job)
    assert seen[0]["settings"]["perturb"] == perturb and (seen[0] == seen[1]) == (perturb == "none")
