"""Only what is asked is planned, and a chapter that is added later plans only what is new."""

import re
from pathlib import Path

import pytest

from attnlimit.workflow.registry import sources
from support.configs import DEFAULT
from support.workflow import clone, overlay, planned, snakemake

JOINED = {"tabulate_rates", "assess_claims", "plot_claims", "plot_beta_vs_horizon"}
JOINED |= {"compose_page"}
JOINED |= {"archive_results", "all"}  # what takes from every chapter
ANSWER = {"state_answer"}
OF_HEADS = {
    "fetch_corpus",
    "fetch_model",
    "tokenize_corpus",
    "extract_embeddings",
    "measure_geometry",
    "compute_limits",
}
OF_HEADS |= {"merge_limits", "measure_errors", "merge_errors", "fit_rates", "plot_convergence", "plot_heat_map"}
OF_HEADS |= {"plot_local_slopes", "plot_bias_fluctuation", "plot_token_complexity"}
OF_HEADS |= {"measure_first_order", "fit_first_order", "plot_first_order"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return clone(tmp_path_factory.mktemp("chapters"))


def make_up(folder: Path) -> None:
    """Put an empty file where each planned job would put one, in the order of the jobs."""
    run = snakemake(folder, "-n")
    for line in re.findall(r"^    output: (.*)$", run.stdout + run.stderr, re.M):
        for name in line.split(", "):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()


def test_heads_wait_for_no_simulation_and_theory_plans_only_what_is_new(folder):
    overlay(folder, chapters=["heads"])
    assert set(planned(folder)) == OF_HEADS | JOINED | ANSWER
    make_up(folder)
    overlay(folder, chapters=["heads", "theory"])
    jobs = planned(folder)
    new = set(jobs) - JOINED
    assert {name for name in new if name.startswith("simulate_")} == {
        name for name in DEFAULT if name.startswith("simulate_")
    }
    assert new & (OF_HEADS | ANSWER) == {"fit_rates"}
    assert jobs["fit_rates"] == len(sources(["theory"]))  # the simulations', not the model's
    assert set(jobs) >= JOINED
    assert not any(re.search("tails|interventions", name) for name in jobs)


def test_theory_needs_neither_model_nor_text(tmp_path):
    folder = clone(tmp_path)
    overlay(folder, chapters=["theory"])
    jobs = set(planned(folder))
    assert jobs & (OF_HEADS - {"fit_rates"}) == set()
    assert "plot_beta_vs_horizon" not in jobs and "plot_gaussian_beta_vs_horizon" in jobs


def test_what_reads_the_users_files_comes_first(folder):
    """With one core, before any simulation: Snakemake says the priority of each job."""
    overlay(folder, chapters=["heads", "tails", "interventions", "contexts", "theory"])
    run = snakemake(folder, "-n", "--forceall")
    parts = re.split(r"^(?:local)?rule (\w+):$", run.stdout + run.stderr, flags=re.M)
    first = {name for name, text in zip(parts[1::2], parts[2::2], strict=True) if "priority: " in text}
    assert first == {"fetch_corpus", "fetch_model", "tokenize_corpus", "extract_embeddings"}
