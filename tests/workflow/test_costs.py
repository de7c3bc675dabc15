"""Estimates follow the sizes in the config, as counting says."""

import json
from copy import deepcopy

import pytest
import yaml

from attnlimit.base.about import Model
from attnlimit.base.costs import ERROR_FLOPS, LIMIT_FLOPS
from attnlimit.questions.gaussian.about import SimulateGaussian, SimulateGaussianPublished
from attnlimit.questions.gaussian.measure import horizon_settings, published_settings, tilted_settings
from attnlimit.questions.patterns.about import PATTERN_FLOPS
from attnlimit.questions.sphere.about import SimulateSphere
from attnlimit.questions.sphere.measure import choose_settings, unit_heads
from attnlimit.sampling.about import has_surrogate
from attnlimit.workflow.costs import (
    CUDA_BYTES,
    FETCHED,
    asked_bytes,
    asked_seconds,
    assumption,
    costs,
    disk_bytes,
    job_bytes,
    job_count,
    job_seconds,
    model_of,
    on_gpu,
    seconds,
)
from attnlimit.workflow.snakemake_records import Job, write_records
from support.configs import DEFAULT, ROOT


def config(**changes: dict) -> dict:
    changed = deepcopy(DEFAULT)
    for section, keys in changes.items():
        changed[section] |= keys
    return changed


def published(overlays: list[str]) -> dict:
    paper = config()
    for name in overlays:
        for section, keys in yaml.safe_load((ROOT / "configs" / name).read_text()).items():
            paper[section] = paper[section] | keys if isinstance(keys, dict) else keys
    return paper


def flops(rule: str, speed: float, **changes: dict) -> int:
    """Of all jobs of a rule."""
    return round(seconds(config(**changes))[rule] * speed)


def test_an_exact_limit_costs_the_square_of_the_population():
    assert flops("compute_limits", LIMIT_FLOPS) == 6 * 4 * 384 * 50_000**2
    twice = {"tokenize_corpus": {"population": 100_000}}
    assert flops("compute_limits", LIMIT_FLOPS, **twice) == 4 * flops("compute_limits", LIMIT_FLOPS)


def test_a_limit_from_some_queries_costs_their_share():
    some = {"compute_limits": {"queries": 5_000, "surrogate": "none"}}
    assert flops("compute_limits", LIMIT_FLOPS, **some) == flops("compute_limits", LIMIT_FLOPS) / 10


def test_a_surrogate_costs_the_drawn_pairs_and_little_more():
    """The published scale: at most 3 core-hours for a million tokens, 60 for twenty million, cut into jobs of 6."""
    rules = ("attend_queries", "fit_surrogate", "apply_surrogate")
    for overlays, most in ((["paper.yaml"], 3), (["paper.yaml", "paper-20m.yaml"], 60)):
        paper = published(overlays)
        assert sum(seconds(paper)[rule] for rule in rules) <= most * 3600
        assert "compute_limits" not in seconds(paper)
        assert max(job_seconds(paper).values()) <= 6 * 3600
    plain = config(compute_limits={"queries": 8192, "surrogate": "none"})
    assert set(rules).isdisjoint(seconds(plain)) and "compute_limits" in seconds(plain)
    drawn = config(compute_limits={"queries": 8192})
    assert seconds(drawn)["attend_queries"] == pytest.approx(seconds(plain)["compute_limits"], rel=0.05)
    assert has_surrogate(drawn) and not has_surrogate(config()) and not has_surrogate(plain)


def test_a_task_costs_its_passes():
    """A dense one, and one for each draw and size; texts that teach a probe are read once."""
    base = seconds(config())["measure_downstream"]
    more = seconds(config(measure_downstream={"replicates": 4}))["measure_downstream"]
    assert more / base == pytest.approx(21 / 11)
    taught = seconds(config(measure_downstream={"task": "labels", "training": 60 * 11}))["measure_downstream"]
    assert taught == pytest.approx(2 * base)


def test_nested_sizes_cost_the_largest_one():
    sizes = {"sizes": [100, 200, 400], "replicates": 10, "group": 1}
    moments = 10 * 2 * 384**2 * 700
    assert flops("measure_errors", ERROR_FLOPS, measure_errors=sizes) == 6 * (10 * 4 * 384 * 400**2 + moments)
    apart = flops("measure_errors", ERROR_FLOPS, measure_errors=sizes | {"nested": False})
    assert apart == 6 * (10 * 4 * 384 * (100**2 + 200**2 + 400**2) + moments)


def test_jobs_share_the_work():
    cut = config(compute_limits={"parts": 4}, measure_errors={"groups_per_job": 3})
    assert job_count(cut)["measure_errors"] == 6 * 4  # 100 replicates in jobs of 30
    assert seconds(cut) == seconds(config())
    for rule, whole in seconds(cut).items():
        assert job_seconds(cut)[rule] * job_count(cut)[rule] == pytest.approx(whole)


def test_layers_drawn_alone_cost_those_after_them():
    """6 layers at each of two sizes; at one of them, 6 + 5 + … + 1 more."""
    sizes = {"sizes": [64, 128], "single_sizes": [128], "blocks": 10, "replicates": 3}
    both, together = (config(measure_propagation=sizes | change) for change in ({}, {"single_sizes": []}))
    ratio = seconds(both)["measure_propagation"] / seconds(together)["measure_propagation"]
    assert ratio == pytest.approx((12 + 21) / 12)
    twice = config(measure_propagation=sizes | {"blocks": 20, "parts": 2})
    assert job_seconds(twice)["measure_propagation"] == pytest.approx(job_seconds(both)["measure_propagation"] * 2)
    assert job_bytes(twice)["measure_propagation"] == job_bytes(both)["measure_propagation"]


def test_half_precision_halves_the_disk():
    """Of the embeddings; the outputs of the limits are as many again, in the precision of compute_limits."""
    assert disk_bytes(config()) == 2 * 50_000 * 6 * 384 * 4
    assert disk_bytes(config(extract_embeddings={"dtype": "float16"})) == disk_bytes(config()) * 3 / 4
    assert disk_bytes(config(compute_limits={"queries": 5000})) == disk_bytes(config()) * 11 / 20


def test_memory_hardly_grows_with_the_population():
    """Only token numbers do: nothing of the size of the embeddings is held."""
    large = config(
        tokenize_corpus={"population": 5_000_000},
        extract_embeddings={"shards": 200},
        compute_limits={"queries": 50_000},
        measure_errors={"groups_per_job": 1},
    )
    for rule, held in job_bytes(large).items():
        if rule != "fit_surrogate":  # it holds the drawn queries, of which the default run has none
            assert held < job_bytes(config())[rule] + 45 * 5_000_000, rule


@pytest.mark.parametrize(
    "overlays",
    [
        ["paper.yaml"],
        ["paper.yaml", "paper-20m.yaml"],
        ["paper.yaml", "paper-v3.yaml"],
        ["paper-window.yaml"],
        ["paper-downstream.yaml"],
    ],
)
def test_a_job_of_the_published_runs_fits_a_common_node(overlays):
    paper = published(overlays)
    unused = () if "whole_model" in paper["chapters"] else ("measure_propagation",)
    assert max(held for rule, held in job_bytes(paper).items() if rule not in unused) < 8e9
    assert max(job_seconds(paper).values()) < 24 * 3600


def test_a_simulation_costs_the_pairs_of_tokens_it_draws():
    base = job_seconds(config())
    twice = job_seconds(config(simulate_sphere={"replicates": 48}, simulate_normality={"replicates": 40000}))
    for rule in base:
        assert twice[rule] / base[rule] == (2 if rule in ("simulate_sphere", "simulate_normality") else 1)
    larger = config(simulate_gaussian={"sizes": [64, 4096]})  # the largest was 2048
    assert job_seconds(larger)["simulate_gaussian"] == pytest.approx(4 * base["simulate_gaussian"])


def test_a_pattern_costs_the_same_at_every_budget_and_drawn_ones_repeat():
    few = {
        "patterns": ["window", "random"],
        "sizes": [16, 32, 64],
        "random_sizes": [1024],
        "blocks": 2,
        "replicates": 1,
    }
    one = 6 * 4 * 384 * 512**2 * 2
    assert flops("measure_patterns", PATTERN_FLOPS, measure_patterns=few) == one * (2 * 3 + 1)
    drawn = flops("measure_patterns", PATTERN_FLOPS, measure_patterns=few | {"replicates": 5})
    assert drawn == one * (3 + 5 * 3 + 5)


def test_a_simulation_cut_by_setting_takes_as_long_as_its_largest_part():
    whole = job_seconds(config())["simulate_sphere"]
    cut = config(simulate_sphere={"parts": 5})  # 12 settings: 3 in the largest
    assert job_seconds(cut)["simulate_sphere"] == pytest.approx(whole * 3 / 12)
    assert job_count(cut)["simulate_sphere"] == 5
    assert asked_seconds(cut, "simulate_sphere") < asked_seconds(config(), "simulate_sphere")


def test_every_setting_of_a_simulation_is_counted():
    """As many as the experiments themselves make of the config."""
    default = config()
    sections = {"gaussian": SimulateGaussian, "gaussian_published": SimulateGaussianPublished, "sphere": SimulateSphere}
    gaussian, published, sphere = (default[f"simulate_{name}"] for name in sections)
    heads = unit_heads(2, seed=1)
    tilts = (gaussian[key] for key in ("tilted_dimension", "tilted_horizons", "constant_tilts"))
    made = {
        "gaussian": horizon_settings(gaussian["dimensions"], gaussian["condition"], gaussian["scales"], seed=1)
        + tilted_settings(*tilts, seed=1),
        "gaussian_published": published_settings(2, published["variance"], published["scales"], seed=1),
        "sphere": choose_settings(heads, sphere["radius"], sphere["horizons"], sphere["scales"]),
    }
    assert {name: len(settings) for name, settings in made.items()} == {
        name: len(section.dimensions_of(default[f"simulate_{name}"])) for name, section in sections.items()
    }


def test_a_gpu_is_asked_for_by_name_only():
    computing = [rule for rule, cost in costs(config()).items() if cost.on_gpu]
    assert {"compute_limits", "measure_errors", "simulate_sphere"} <= {*computing} and "merge_limits" not in computing
    for device in ("auto", "cpu", "cuda"):
        assert all(on_gpu(config() | {"device": device}, rule) == (device == "cuda") for rule in computing)


def test_a_job_on_a_gpu_asks_for_less_time_and_more_memory():
    cpu, cuda = config() | {"device": "cpu"}, config() | {"device": "cuda"}
    assert asked_seconds(cuda, "compute_limits") < asked_seconds(cpu, "compute_limits")
    more = asked_bytes(cuda, "compute_limits") - asked_bytes(cpu, "compute_limits")
    assert more == pytest.approx(1.5 * CUDA_BYTES)
    assert asked_bytes(cuda, "merge_limits") == asked_bytes(cpu, "merge_limits")


def test_jobs_of_the_default_run_ask_for_more_than_they_took():
    """CPU seconds and resident bytes as measured on one core of an AVX2 machine, and Snakemake's own 350 MB."""
    took = {
        "extract_embeddings": (15, 803e6),
        "measure_geometry": (3, 274e6),
        "compute_limits": (75, 805e6),
        "merge_limits": (2, 183e6),
        "measure_errors": (75, 1343e6),
        "merge_errors": (3, 435e6),
        "measure_propagation": (85, 635e6),
        "measure_downstream": (71, 645e6),
        "merge_downstream": (3, 214e6),
    }
    for rule, (spent, held) in took.items():
        assert asked_seconds(config(), rule) > 3 * spent
        assert asked_bytes(config(), rule) > 1.2 * (held + 350e6)


def test_a_model_of_ones_own_costs_what_its_config_json_says(tmp_path):
    """DistilBERT has names of its own; what a config.json does not say, and a model not here yet, is as BERT-base."""
    section = {"source": "local", "location": str(tmp_path)}
    tiny = {"model_type": "distilbert", "n_layers": 2, "dim": 48, "n_heads": 4}
    (tmp_path / "config.json").write_text(json.dumps(tiny))
    own = config(fetch_model=section)
    assert model_of(own) == Model(layers=2, features=48, heads=4) and assumption(own) == ""
    for rule in ("compute_limits", "extract_embeddings", "measure_propagation"):
        assert seconds(own)[rule] < seconds(config())[rule] / 7, "an eighth of the features"
        assert job_bytes(own)[rule] < job_bytes(config())[rule]
    (tmp_path / "config.json").write_text('{"model_type": "bert", "hidden_size": 96}')
    assert model_of(own) == Model(layers=12, features=96, heads=12)
    for source in ({"source": "hub", "location": "owner/name"}, {"source": "package", "location": "some==1"}):
        assert model_of(config(fetch_model=source)) == Model(12, 768, 12)
        assert "not here yet" in assumption(config(fetch_model=source))
    assert assumption(config()) == ""


def test_a_fetched_model_costs_what_its_config_json_says_if_the_run_fetched_just_that_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = config(fetch_model={"source": "hub", "location": "owner/name"})
    record = Job("fetch_model", "", (), (FETCHED,), (repr({"code": "ab", "settings": own["fetch_model"]}),), {})
    write_records([record], tmp_path)
    assert "not here yet" in assumption(own)
    (tmp_path / FETCHED).parent.mkdir(parents=True)
    tiny = {"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4}
    (tmp_path / FETCHED).write_text(json.dumps(tiny))
    assert model_of(own) == Model(layers=2, features=48, heads=4) and assumption(own) == ""
    other = config(fetch_model={"source": "hub", "location": "owner/other"})
    assert model_of(other) == Model(12, 768, 12) and "not here yet" in assumption(other)
