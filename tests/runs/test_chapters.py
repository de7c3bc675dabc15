"""Only what is asked is planned, and a chapter that is added later plans only what is new."""

import re
from pathlib import Path

import pytest

from attnlimit.workflow.registry import sources
from support.configs import DEFAULT
from support.workflow import all_jobs, clone, overlay, planned

# What takes from every chapter.
JOINED = {"tabulate_rates", "state_answer", "assess_claims", "plot_claims", "plot_heads", "compose_page"}
JOINED |= {"archive_results", "all"}
OF_THE_MODEL = re.compile("(fetch|tokenize|extract|measure|compute)_")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return clone(tmp_path_factory.mktemp("chapters"))


def make_up(folder: Path) -> None:
    """Put an empty file where each planned job would put one, in the order of the jobs."""
    for name in [name for job in all_jobs(folder, "-n") for name in job.output]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_heads_wait_for_no_simulation_and_theory_plans_only_what_is_new(folder):
    overlay(folder, chapters=["heads"])
    heads = set(planned(folder))
    assert heads >= JOINED | {"compute_limits", "measure_errors", "fit_rates"}
    assert not any(re.search("simulate_|tails|interventions", name) for name in heads)
    make_up(folder)
    overlay(folder, chapters=["heads", "theory"])
    jobs = planned(folder)
    assert {name for name in jobs if name.startswith("simulate_")} == {
        name for name in DEFAULT if name.startswith("simulate_")
    }
    assert set(jobs) & heads == JOINED | {"fit_rates"}
    assert jobs["fit_rates"] == len(sources(["theory"]))  # the simulations', not the model's


def test_theory_needs_neither_model_nor_text(tmp_path):
    folder = clone(tmp_path)
    overlay(folder, chapters=["theory"])
    jobs = set(planned(folder))
    assert not list(filter(OF_THE_MODEL.match, jobs))
    assert "plot_heads" not in jobs and "plot_gaussian" in jobs


def test_what_reads_the_users_files_comes_first_and_figures_last(folder):
    """With one core, before any simulation: Snakemake says the priority of each job, of which 0 is the lowest."""
    overlay(folder, chapters=["heads", "tails", "interventions", "contexts", "theory"])
    said = {job.rule: re.search(r"priority: (\d+)", job.text) for job in all_jobs(folder)}
    priority = {rule: int(found[1]) if found else 0 for rule, found in said.items()}
    first = {"fetch_corpus", "fetch_model", "tokenize_corpus", "extract_embeddings"}
    assert min(priority[rule] for rule in first) > max(priority[rule] for rule in priority.keys() - first)
    figures = {rule for rule in priority if rule.startswith("plot_")}
    assert {rule for rule in priority if not priority[rule]} == figures | {"all"}
