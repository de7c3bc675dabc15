"""A wrong config is refused before any job starts, in one line that names the key."""

import json
from math import nan

import pytest
import yaml

from attnlimit.base.about import About
from attnlimit.base.plain_attention import REMEDY
from attnlimit.sources.model.families import DOCS, shape_of_model
from attnlimit.workflow.config import check, check_kind_of_model, missing_sources, require_readable
from attnlimit.workflow.study_files import MODEL
from support.configs import ABSENT, DEFAULT, ROOT, changed, merged, refusal


def test_the_default_config_passes():
    assert check(DEFAULT) is None


NAMES = "paper-window.yaml", "paper-downstream.yaml", "smollm2.yaml"
WINDOW, TASK_CONFIG, SMOLLM2 = (ROOT / "configs" / name for name in NAMES)
TO_FILL_IN = {path for path in ROOT.glob("configs/models/*.yaml") if 'revision: ""' in path.read_text()}
COMPLETE = sorted(map(str, {*ROOT.glob("configs/**/*.yaml")} - {WINDOW, TASK_CONFIG} - TO_FILL_IN))


@pytest.mark.parametrize("overlay", ["tests/smoke/config.yaml", *COMPLETE])
def test_overlays_pass(overlay):
    of_atlas = (ROOT / overlay).parent.name == "atlas"
    below = merged(DEFAULT, yaml.safe_load((ROOT / MODEL.sizes).read_text())) if of_atlas else DEFAULT
    config = merged(below, yaml.safe_load((ROOT / overlay).read_text()))
    assert config != DEFAULT or overlay.endswith("studies/wikipedia.yaml"), "it differs"
    assert check(config) is None


@pytest.mark.parametrize("overlay", sorted(TO_FILL_IN | {WINDOW}), ids=lambda path: path.stem)
def test_a_model_of_the_hub_that_nobody_here_has_seen_asks_for_commit_and_checksum(overlay):
    """No hash is made up: each is asked for by name, and with both the config passes, over the run that it names."""
    text = overlay.read_text()
    below = yaml.safe_load(SMOLLM2.read_text()) if "laid over configs/smollm2.yaml" in text else {}
    config = merged(merged(DEFAULT, below), yaml.safe_load(text))
    for key, value in {"revision": "a" * 40, "weights_sha256": "b" * 64}.items():
        assert refusal(config) == f"config: fetch_model.{key}: source hub needs it"
        config["fetch_model"][key] = value
    assert check(config) is None


def test_the_window_overlay_has_the_published_windows():
    sizes = yaml.safe_load(WINDOW.read_text())["measure_patterns"]["sizes"]
    assert [(size - 51) / 2 for size in (sizes[0], sizes[-1])] == [500, 1500]


def test_the_published_task_asks_for_what_is_not_known_key_by_key(tmp_path):
    """No commit and no checksum is made up: each is asked for by name, and with all of them the config passes."""
    config = merged(DEFAULT, yaml.safe_load(TASK_CONFIG.read_text()))
    (tmp_path / "texts.parquet").touch()
    own = {"location": "owner/classifier", "revision": "a" * 40, "weights_sha256": "b" * 64}
    for section, key, value in [
        *(("fetch_model", *pair) for pair in own.items()),
        ("measure_downstream", "location", str(tmp_path / "texts.parquet")),
    ]:
        assert refusal(config).startswith(f"config: {section}.{key}: ")
        config[section][key] = value
    assert check(config) is None


TASK = {"measure_downstream.task": "labels"}
TEXTS_OF_ONES_OWN = {"fetch_corpus.source": "text", "fetch_corpus.location": "mine.jsonl"}


def test_texts_that_an_archive_does_not_hold_are_not_looked_for(tmp_path):
    """In a folder restored from it; unless the task has changed since."""
    config = changed({**TASK, "measure_downstream.location": "gone.jsonl"})
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    absent = missing_sources(config, tmp_path / "config.yaml")
    assert absent == {"measure_downstream"} and check(config, absent) is None
    config["measure_downstream"] = config["measure_downstream"] | {"texts": 8}
    assert missing_sources(config, tmp_path / "config.yaml") == set()


def test_a_run_restored_below_runs_counts_names_from_the_project(tmp_path, monkeypatch):
    """What is in the project is not missing, wherever the run has its folder."""
    own, run = tmp_path / "mine.jsonl", tmp_path / "runs/restored"
    run.mkdir(parents=True)
    own.touch()
    config = changed({**TASK, "measure_downstream.location": "mine.jsonl", **TEXTS_OF_ONES_OWN})
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    monkeypatch.chdir(run)
    assert missing_sources(config, run / "config.yaml", tmp_path) == set()
    own.unlink()
    assert missing_sources(config, run / "config.yaml", tmp_path) == {"measure_downstream", "fetch_corpus"}


def test_a_task_that_does_not_run_is_not_looked_at():
    assert check(changed({**TASK, "chapters": ["theory"]})) is None


SHA256, COMMIT, HERE = "a" * 64, "b" * 40, str(ROOT)
PAGE = "https://host/dump.xml.bz2"
DATASET = {"source": "hub", "location": "owner/name", "revision": COMMIT, "files": "en/*.parquet"}
EXCERPT = {"source": "excerpt", "share": 1.0}


def mixture(*parts: dict) -> dict:
    return {"fetch_corpus.source": "mixture", "fetch_corpus.texts": [*parts]}


WRONG_CORPORA = [  # keys of fetch_corpus, and how the refusal goes on
    ({"location": "x"}, 'location: source excerpt takes none; leave it ""'),
    ({"sha256": SHA256}, "sha256: source excerpt takes none"),
    ({"revision": COMMIT}, "revision: source excerpt takes none"),
    ({"source": "dump", "sha256": SHA256}, "location: source dump needs it"),
    ({"source": "dump", "location": PAGE}, "sha256: source dump needs it"),
    ({"source": "dump", "location": PAGE, "sha256": SHA256, "files": "*"}, "files: source dump takes none"),
    ({"source": "dump", "location": "nowhere.xml", "sha256": SHA256}, "location: no file 'nowhere.xml' here"),
    ({"source": "dump", "location": HERE, "sha256": SHA256}, "location: no file "),
    ({"source": "dump", "location": "ftp://host/dump.xml", "sha256": SHA256}, "location: 'ftp://host/dump.xml': only"),
    ({"source": "dump", "location": "https://host/", "sha256": SHA256}, "location: 'https://host/': only"),
    ({"source": "text"}, "location: source text needs it"),
    ({"source": "text", "location": "nowhere"}, "location: no file or folder 'nowhere' here"),
    ({"source": "text", "location": "https://host/x.jsonl"}, "location: 'https://host/x.jsonl': only a dump can be"),
    ({"source": "text", "location": f"{HERE}/envs"}, "location: folder "),
    ({"source": "text", "location": "nowhere", "revision": COMMIT}, "revision: source text takes none"),
    (DATASET | {"location": ""}, "location: source hub needs it"),
    (DATASET | {"location": "name"}, "location: 'name' is not of the form owner/name"),
    (DATASET | {"revision": ""}, "revision: source hub needs it"),
    (DATASET | {"revision": "main"}, "revision: 'main'"),
    (DATASET | {"revision": COMMIT + "\n"}, "revision: "),
    (DATASET | {"files": ""}, "files: source hub needs it"),
    (DATASET | {"sha256": SHA256}, "sha256: source hub takes none"),
    (DATASET | {"column": ""}, "column: "),
    ({"characters": -1}, "characters: -1"),
]
PACKAGE = {
    "fetch_corpus.source": "package",
    "fetch_corpus.location": "tiny==1",
    "fetch_corpus.file": "tiny-1.tar.gz",
    "fetch_corpus.sha256": "a" * 64,
    "fetch_corpus.files": "*.txt",
}
HUB = {
    "fetch_model.source": "hub",
    "fetch_model.location": "google-bert/bert-base-uncased",
    "fetch_model.revision": "86b5e0934494bd15c9632b12f734a8a67f723594",
    "fetch_model.weights_sha256": "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
}
WRONG = [
    ({"measure_downstream.location": "a.jsonl"}, "measure_downstream.location: task retrieval takes none"),
    ({"measure_downstream.sha256": "a" * 64}, "measure_downstream.sha256: task retrieval takes none"),
    (TASK, "measure_downstream.location: task labels needs it"),
    ({**TASK, "measure_downstream.location": "a.csv"}, "'a.csv': take a .jsonl or .parquet file"),
    ({**TASK, "measure_downstream.location": "nowhere.jsonl"}, "measure_downstream.location: no file 'nowhere.jsonl'"),
    ({"measure_downstream.shortest": 1.5}, "measure_downstream.shortest: 1.5"),
    ({"measure_downstream.longest": 2}, "measure_downstream.longest: 2, but two marks and one word piece need 3"),
    ({"measure_downstream.longest": 1000}, "measure_downstream.longest: 1000 tokens, but the model reads at most 512"),
    (
        {"measure_downstream.replacement": False},
        "measure_downstream.sizes: 524288 is not below the shortest text, 256 tokens",
    ),
    ({"measure_downstream.per_article": 40}, "measure_downstream.texts: 60 are fewer than two articles"),
    ({"measure_downstream.per_article": 1}, "measure_downstream.per_article: 1"),
    ({"measure_downstream.parts": 61}, "measure_downstream.parts: more jobs than texts 60"),
    ({"sed": 1}, "config: no key 'sed'; did you mean 'seed'?"),
    ({"measure_errors.replicate": 3}, "measure_errors: no key 'replicate'; did you mean 'replicates'?"),
    ({"measure_errors.size": 3}, "measure_errors: no key 'size'; did you mean 'sizes'?"),
    ({"population": 3}, "config: no key 'population'; did you mean 'tokenize_corpus.population'?"),
    ({"fit_hardmax.zzz": 3}, "fit_hardmax: no key 'zzz'; the keys are log10_largest"),
    ({"chapters": ["head"]}, "chapters.0: 'head' is not one of ", "did you mean 'heads'?"),
    ({"chapters": "heads"}, "chapters: 'heads' is not a list"),
    ({"chapters": []}, "chapters: [] has no entries; write 1 or more"),
    ({"chapters": ["heads", "heads"]}, "chapters: ['heads', 'heads'] has an entry twice"),
    ({"seed": "2512"}, "seed: '2512' is not a whole number"),
    ({"seed": True}, "seed: "),
    ({"layers": [0, 3, 0]}, "layers: "),
    ({"layers": [0, -1]}, "layers.1: -1"),
    ({"layers": []}, "layers: "),
    ({"device": "gpu"}, "device: 'gpu' is not one of auto, cpu, cuda"),
    ({"fit_rates": None}, "fit_rates: it has no value; write a section"),
    ({"fit_rates.misfit": ABSENT}, "fit_rates: the key 'misfit' is missing"),
    ({"seed": "7"}, "seed: '7' is not a whole number, but text; write 7, without quotes"),
    ({"tokenize_corpus.population": "3e3"}, "'3e3' is not a whole number, but text; write 3000"),
    ({"tokenize_corpus.population": 0}, "tokenize_corpus.population: 0 is too small; write at least 1"),
    ({"fit_rates": ABSENT}, "config: the key 'fit_rates' is missing"),
    ({"fetch_corpus.source": "hubb"}, "fetch_corpus.source: 'hubb' is not one of", "did you mean 'hub'?"),
    ({"fetch_model.source": "gpt2"}, "fetch_model.source: 'gpt2'"),
    ({"fetch_corpus.sha256": "a5" * 31}, "fetch_corpus.sha256: "),
    ({"fetch_corpus.sha256": "a" * 64 + "\n"}, "fetch_corpus.sha256: "),
    ({"fetch_model.weights_sha256": "53aa"}, "fetch_model.weights_sha256: '53aa' is not 64 hexadecimal digits"),
    ({"fetch_model.location": "folder"}, "fetch_model.location: ", "embedded"),
    ({"fetch_model.revision": "a" * 40}, "fetch_model.revision: ", "embedded"),
    ({"fetch_model.source": "local"}, "fetch_model.location: ", "local"),
    ({**HUB, "fetch_model.location": ""}, "fetch_model.location: ", "hub"),
    ({**HUB, "fetch_model.location": "bert-base-uncased"}, "fetch_model.location: ", "owner/name"),
    ({**HUB, "fetch_model.revision": ""}, "fetch_model.revision: ", "hub"),
    ({**HUB, "fetch_model.revision": "main"}, "fetch_model.revision: 'main'"),
    ({**HUB, "fetch_model.revision": "a" * 40 + "\n"}, "fetch_model.revision: "),
    ({**HUB, "fetch_model.weights_sha256": ""}, "fetch_model.weights_sha256: ", "hub"),
    ({"fetch_model.file": "a-1.whl"}, "fetch_model.file: source embedded takes none"),
    ({"fetch_model.tokenizer": "embedded"}, "fetch_model.tokenizer: source embedded takes none"),
    ({"fetch_model.tokenizer": "other"}, "fetch_model.tokenizer: "),
    ({"fetch_corpus.title": "mine"}, "fetch_corpus.title: source excerpt takes none"),
    ({"fetch_corpus.source": "mixture"}, "fetch_corpus.texts: source mixture needs it"),
    ({"fetch_corpus.texts": [EXCERPT]}, "fetch_corpus.texts: source excerpt takes none; leave it []"),
    (mixture(EXCERPT | {"share": 0.9}), "fetch_corpus.texts: shares add up to 0.9; they must make 1"),
    (mixture(EXCERPT | {"share": 0}), "fetch_corpus.texts.0.share: 0"),
    (mixture(EXCERPT | {"source": "mixture"}), "fetch_corpus.texts.0.source: 'mixture' is not one of"),
    (mixture(EXCERPT | {"file": ""} | {"shares": 1}), "fetch_corpus.texts.0: no key 'shares'; did you mean 'share'?"),
    (mixture({"source": "package", "share": 1.0}), "fetch_corpus.texts.0.location: source package needs it"),
    ({"fetch_corpus.format": "xml"}, "fetch_corpus.format: 'xml' is not one of"),
    ({**PACKAGE, "fetch_corpus.file": ""}, "fetch_corpus.file: source package needs it"),
    ({**PACKAGE, "fetch_corpus.files": ""}, "fetch_corpus.files: source package needs it"),
    ({**PACKAGE, "fetch_corpus.sha256": ""}, "fetch_corpus.sha256: source package needs it"),
    (
        {**PACKAGE, "fetch_corpus.location": "tiny>=1"},
        "fetch_corpus.location: 'tiny>=1' is not of the form name==version",
    ),
    ({**PACKAGE, "fetch_corpus.location": "tiny==2"}, "fetch_corpus.file: 'tiny-1.tar.gz' is not of tiny==2"),
    ({**PACKAGE, "fetch_corpus.revision": "a" * 40}, "fetch_corpus.revision: source package takes none"),
    ({"measure_errors.sizes": []}, "measure_errors.sizes: "),
    ({"measure_errors.sizes": [64, 128]}, "measure_errors.sizes: "),
    ({"measure_errors.sizes": [64, 256, 128]}, "measure_errors.sizes: [64, 256, 128] must increase; sort it"),
    ({"measure_errors.sizes": [0, 64, 128]}, "measure_errors.sizes.0: "),
    (
        {"measure_errors.sizes": [64, 128, 50001], "measure_errors.replacement": False},
        "measure_errors.sizes: 50001",
        "tokenize_corpus.population 50000",
    ),
    ({"measure_errors.replicates": 105}, "measure_errors.replicates: 105", "group 10"),
    ({"measure_errors.replicates": 10}, "measure_errors.replicates: "),
    ({"simulate_gaussian_published.references": ["finit"]}, "simulate_gaussian_published.references.0: 'finit'"),
    ({"simulate_gaussian_asymptotic.horizons": [0]}, "simulate_gaussian_asymptotic.horizons.0: 0"),
    ({"compute_limits.queries": 50001}, "compute_limits.queries: ", "tokenize_corpus.population 50000"),
    ({"compute_limits.queries": 3}, "compute_limits.queries: 3", "take 4 or more, or 0 for all"),
    ({"measure_contexts.runs": [1, "documents"]}, "measure_contexts.runs.1: 'documents' is not document"),
    ({"measure_first_order.covariance_keys": 9999}, "measure_first_order.covariance_keys: 9999 is more than keys 4096"),
    ({"measure_first_order.scouts": 33}, "measure_first_order.scouts: 33"),
    ({"measure_contexts.runs": [16, 64]}, "measure_contexts.runs: no 1: runs are compared with independent tokens"),
    ({"measure_contexts.runs": [1, 0]}, "measure_contexts.runs.1: 0"),
    (
        {"measure_contexts.runs": [1, 1024]},
        "measure_contexts.runs: 1024 tokens are more than tokenize_corpus.block 512",
    ),
    ({"measure_contexts.document_run": 513}, "measure_contexts.document_run: 513 tokens are more than"),
    ({"measure_contexts.runs": [1, 48]}, "measure_contexts.sizes: 64 is not made of whole runs of 48"),
    ({"measure_contexts.sizes": [64, 128, 512]}, "measure_contexts.sizes: fewer than 3 from runs 256 on"),
    ({"measure_contexts.layers": [0, 7]}, "measure_contexts.layers: layer 7 is not among `layers`"),
    ({"measure_contexts.layers": 0}, "measure_contexts.layers: 0"),
    ({"measure_clouds.heads": "extreme"}, "measure_clouds.heads: 'extreme' is not extremes; did you mean 'extremes'?"),
    ({"measure_clouds.heads": [[0, 12]]}, "measure_clouds.heads: no head 12; a layer of the model has heads 0 to 11"),
    ({"measure_clouds.heads": [[5, 1]], "layers": [0]}, "measure_clouds.heads: layer 5 is not among `layers` [0]"),
    ({"measure_clouds.sizes": [64, 500, 4096]}, "measure_clouds.sizes: 500 does not divide the largest, 4096"),
    ({"measure_clouds.mapped": 4097}, "measure_clouds.mapped: 4097 exceeds the largest of sizes, 4096"),
    ({"measure_clouds.perplexity": 320}, "measure_clouds.perplexity: 320 is not below mapped 320"),
    ({"tokenize_corpus.block": 4097}, "tokenize_corpus.block: 4097"),
    ({"tokenize_corpus.block": 513}, "tokenize_corpus.block: 513 tokens, but the model reads at most 512"),
    ({"measure_clouds.heads": [[0, 2], [6, 0]]}, "measure_clouds.heads: no layer 6", "layers 0 to 5"),
    ({"measure_interventions.tilt_factors": [2]}, "measure_interventions.tilt_factors: no 0", "add it"),
    ({"measure_interventions.tilt_factors": [0, 1]}, "measure_interventions.tilt_factors: 1 changes nothing"),
    ({"extract_embeddings.shards": 99}, "extract_embeddings.shards: "),
    ({"fit_rates.saturated": 10**400}, "fit_rates.saturated: "),
    ({"simulate_sphere.parts": 13}, "simulate_sphere.parts: 13 jobs for 12 settings"),
    ({"simulate_hardmax.direct_sizes": [64, 64, 128]}, "simulate_hardmax.direct_sizes: ", "must increase"),
    ({"simulate_hardmax.sizes": [10, 100, 10**13]}, "simulate_hardmax.sizes.2: 10000000000000"),
    ({"measure_interventions.horizon_factors": [4, 1]}, "measure_interventions.horizon_factors.1: 1"),
    ({"measure_interventions.horizon_factors": []}, "measure_interventions.horizon_factors: "),
    ({"measure_clouds.heads": [[0, 2], [1]]}, "measure_clouds.heads.1: "),
    ({"measure_patterns.patterns": ["window", "windw"]}, "measure_patterns.patterns.1: 'windw'"),
    ({"measure_patterns.sizes": [64, 128, 513]}, "measure_patterns.sizes: 513", "tokenize_corpus.block 512"),
    ({"measure_patterns.sizes": [16, 50, 51, 64]}, "measure_patterns.patterns: window_random_50", "3 sizes above"),
    ({"measure_patterns.random_sizes": [512]}, "measure_patterns.random_sizes: must increase, from above", "512"),
    ({"fit_patterns.slope_tolerance": 0}, "fit_patterns.slope_tolerance: 0"),
    ({"measure_propagation.single_sizes": [100]}, "measure_propagation.single_sizes: 100 is not among"),
    (
        {"measure_propagation.replacement": False},
        "measure_propagation.sizes: 2048 without replacement",
        "256 tokens (shortest * tokenize_corpus.block)",
    ),
    ({"measure_propagation.parts": 10**6}, "measure_propagation.parts: makes 1000000 jobs"),
    ({"measure_tails.scales": [1, 0]}, "measure_tails.scales.1: 0"),
    ({"simulate_uniform.radii": [0.25, 0.3, 0.5]}, "simulate_uniform.radii: 0.3 "),
    ({"simulate_uniform.radii": [0.25, 1, 0.5]}, "simulate_uniform.radii: ", "must increase"),
    ({"simulate_uniform.radii": [0.25, 1, 6.25]}, "simulate_uniform.radii.2"),
    ({"simulate_uniform.compact_radii": [1, 2, 2.5]}, "simulate_uniform.compact_radii: 2.5 "),
    ({"simulate_uniform.laws": ["gaussian", "cauchy"]}, "simulate_uniform.laws.1"),
    ({"simulate_uniform.laws": ["interval"]}, "simulate_uniform.laws"),
    ({"simulate_uniform.angles": 33}, "simulate_uniform.angles"),
    ({"simulate_uniform.largest_in_plane": 999}, "simulate_uniform.largest_in_plane"),
    ({"simulate_normality.tilts": [-1, 0, 1]}, "simulate_normality.tilts.0"),
    ({"simulate_uniform.step": 1e-300}, "simulate_uniform.step"),
    # A float is no count: numpy and range take none, and a job would fail hours later.
    ({"seed": 2512.0}, "seed: 2512.0 is not a whole number"),
    ({"measure_errors.sizes": [64.0, 128.0, 256.0]}, "measure_errors.sizes.0: 64.0"),
    ({"extract_embeddings.shards": 2.0}, "extract_embeddings.shards: 2.0"),
    # Nothing is above NaN: no fit would ever be marked.
    ({"fit_rates.misfit": nan}, "fit_rates.misfit: nan is not a number"),
    ({"fit_rates.misfit": True}, "fit_rates.misfit: True is not a number"),
    ({"tokenize_corpus.population": 10**400}, "tokenize_corpus.population: 1000", "not a whole number that can be"),
    ({"run": "a b"}, "run: 'a b'", "A-Za-z0-9_.-"),
    ({"measure_contexts.layers": "five"}, "measure_contexts.layers: 'five' is not a whole number or a list"),
    ({"compare_studies.studies": {"a/b": "runs/a"}}, "compare_studies.studies: 'a/b'"),
    ({"fit_hardmax": {7: 1}}, "fit_hardmax: "),
    ({"compute_limits.parts": 10**6}, "compute_limits.parts: makes 6000000 jobs, at most 100000"),
    ({"measure_errors.replicates": 10**9}, "measure_errors.replicates: makes ", "at most 100000"),
    (
        {"tokenize_corpus.population": 10**9, "extract_embeddings.shards": 10**6},
        "extract_embeddings.shards: makes 1000000 jobs, at most 100000",
    ),
]


WRONG += [
    ({f"fetch_corpus.{key}": value for key, value in keys.items()}, f"config: fetch_corpus.{message}")
    for keys, message in WRONG_CORPORA
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: ",".join(wrong[0]))
def test_a_wrong_value_is_refused_by_its_key(wrong):
    changes, *named = wrong
    message = refusal(changed(changes))
    assert all(part in message for part in named), message


@pytest.mark.parametrize(
    "changes",
    [
        {"measure_errors.sizes": [64, 128, 50001]},
        {"measure_errors.sizes": [64, 128, 50000], "measure_errors.replacement": False},
        {"measure_errors.replicates": 40},
        {"layers": [5]},
        {"compute_limits.queries": 50000},
        {"extract_embeddings.shards": 97},
        {"tokenize_corpus.population": 300, "extract_embeddings.shards": 1},
        {"fit_rates.misfit": 2.5},
        {"measure_clouds.heads": [[0, 2], [5, 0]]},
        {"measure_interventions.horizon_factors": [1.5], "measure_interventions.tilt_factors": [0, 0.5, 3]},
        {"seed": 0},
        HUB,
        {"fetch_model.source": "local", "fetch_model.location": "models/mine"},
        {"fetch_model.weights_sha256": "0" * 64},
    ],
)
def test_what_is_allowed_passes(changes):
    assert check(changed(changes)) is None


@pytest.mark.parametrize("config", [None, [], 3, "seed", {}])
def test_a_file_that_is_no_config_is_refused(config):
    refusal(config)


def test_radii_may_be_any_even_multiple_of_the_step():
    assert check(changed({"simulate_uniform.step": 0.05, "simulate_uniform.radii": [0.1, 0.3, 0.7, 4.9]})) is None


def corpus(**keys):
    return changed({f"fetch_corpus.{key}": value for key, value in keys.items()})


def test_a_folder_of_text_has_no_sha256(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    message = refusal(corpus(source="text", location=str(tmp_path), sha256=SHA256))
    assert message.startswith("config: fetch_corpus.sha256: a folder has none")


def test_braces_in_a_file_name_are_refused_before_snakemake_stumbles(tmp_path):
    (tmp_path / "a{1}.txt").write_text("a")
    message = refusal(corpus(source="text", location=str(tmp_path)))
    assert message.startswith("config: fetch_corpus.location: ") and "a{1}.txt" in message


def test_a_file_whose_ending_tells_no_format_is_refused(tmp_path):
    (tmp_path / "a.pdf").write_text("a" * 50_000)
    message = refusal(corpus(source="text", location=str(tmp_path / "a.pdf")))
    assert "a.pdf': its file extension is of no known format; give a folder, or a file ending in .txt" in message
    assert check(corpus(source="text", location=str(tmp_path / "a.pdf"), format="text")) is None


def test_a_text_that_no_job_could_read_is_refused_by_its_key(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"wor\0ds")
    with pytest.raises(ValueError, match=r"config: fetch_corpus\.location: .*a\.txt: holds NUL bytes"):
        require_readable(corpus(source="text", location=str(tmp_path)), ROOT)


def test_every_source_passes(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("a" * 50_000)
    local = {"location": str(file), "sha256": SHA256}
    for keys in (
        DATASET,
        {"source": "dump", "location": PAGE, "sha256": SHA256},
        {"source": "dump"} | local,
        {"source": "text"} | local,
        {"source": "text", "location": str(file)},
        {"source": "text", "location": str(tmp_path)},
    ):
        assert check(corpus(**keys)) is None


def test_a_layer_that_the_model_does_not_have_is_refused(tmp_path):
    assert refusal(changed({"layers": [0, 6]})) == (
        "config: layers: no 6; the model has layers 0 to 5; write such as layers: [0]"
    )
    (tmp_path / "config.json").write_text('{"model_type": "distilbert", "n_layers": 2}')
    local = {"fetch_model.source": "local", "fetch_model.location": str(tmp_path)}
    assert refusal(changed(local | {"layers": [2]})).startswith("config: layers: no 2; the model has layers 0 to 1")
    assert check(changed(local | {"layers": [1]})) is None


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"model_type": "gpt2"}, "model_type 'gpt2' is not supported: it is a language model"),
        ({"model_type": "new", "architectures": ["NewForCausalLM"]}, "it is a language model"),
        ({"model_type": "deberta-v2"}, "it adds position biases to its scores; take a plain one of bert, "),
        ({"model_type": "new"}, "it is none of the kinds whose projections are known here"),
        ({"model_type": "bert", "is_decoder": True}, "is_decoder: a decoder"),
        ({"model_type": "bert", "position_embedding_type": "relative_key"}, "position_embedding_type"),
        ([], "model_type None"),
        ("broken", "damaged"),
    ],
)
def test_a_model_here_that_is_not_supported_is_refused_before_any_job(tmp_path, facts, message):
    (tmp_path / "config.json").write_text("[" if facts == "broken" else json.dumps(facts))
    said = refusal(changed({"fetch_model.source": "local", "fetch_model.location": str(tmp_path)}))
    assert said.startswith(f"config: fetch_model.location: {tmp_path / 'config.json'}: ") and message in said
    assert facts == "broken" or said.endswith(DOCS)


def test_the_page_that_refusals_name_is_there():
    for link in (DOCS, REMEDY.rpartition(": ")[2]):
        page, anchor = link.split("#")
        assert f"\n## {anchor.replace('-', ' ').capitalize()}\n" in (ROOT / page).read_text()


@pytest.mark.parametrize(
    ("facts", "longest"),
    [
        ({"model_type": "bert", "max_position_embeddings": 100}, 100),
        ({"model_type": "roberta", "max_position_embeddings": 100}, 98),  # up to that of the padding, 1, none is used
        ({"model_type": "xlm-roberta", "max_position_embeddings": 100, "pad_token_id": 0}, 99),
    ],
)
def test_a_block_is_as_long_as_the_model_reads(tmp_path, facts, longest):
    (tmp_path / "config.json").write_text(json.dumps(facts))
    local = {"fetch_model.source": "local", "fetch_model.location": str(tmp_path), "chapters": ["heads"]}
    assert check(changed(local | {"tokenize_corpus.block": longest})) is None
    said = refusal(changed(local | {"tokenize_corpus.block": longest + 1}))
    assert f"tokenize_corpus.block: {longest + 1} tokens, but the model reads at most {longest}" in said


def test_more_tokens_than_a_text_has_bytes_are_refused(tmp_path):
    """Ten bytes in blocks of 7 with 5 pieces each: two full blocks, and one that the end of a text may begin."""
    (tmp_path / "a.md").write_text("a b c d e ")
    (tmp_path / "b.pdf").write_text("none of it is read")
    keys = {"tokenize_corpus.block": 7, "extract_embeddings.shards": 1, "chapters": ["heads"]}
    keys |= {"fetch_corpus.source": "text", "fetch_corpus.location": str(tmp_path)}
    assert check(changed(keys | {"tokenize_corpus.population": 16})) is None
    said = refusal(changed(keys | {"tokenize_corpus.population": 17}))
    assert (
        said.startswith("config: tokenize_corpus.population: 17, but ")
        and "at most 16 tokens, one a byte; lower it" in said
    )


PACKED = {"source": "package", "location": "tiny==1", "file": "tiny-1-py3-none-any.whl", "files": "tiny/a.gguf"}
PACKED |= {"sha256": "a" * 64, "weights_sha256": "b" * 64}


def test_a_run_has_a_language_model_or_an_encoder(monkeypatch):
    """The chapters say which; a model that is surely of the other kind is refused before anything is fetched."""
    said = refusal(changed({f"fetch_model.{key}": value for key, value in PACKED.items()}))
    assert said.startswith("config: fetch_model.files: a GGUF is a language model, whose tokens see only those before")
    language = About("keys", "How many?", chapter="language", causal=True)
    monkeypatch.setattr("attnlimit.workflow.config.questions_of", lambda chapters: [language])
    assert check_kind_of_model(DEFAULT | {"fetch_model": DEFAULT["fetch_model"] | PACKED}) is None
    with pytest.raises(ValueError, match="fetch_model.source: embedded is an encoder"):
        check_kind_of_model(DEFAULT)
    encoder = About("heads", "How fast?", chapter="heads", uses=("models/heads",))
    monkeypatch.setattr("attnlimit.workflow.config.questions_of", lambda chapters: [encoder, language])
    with pytest.raises(ValueError, match="chapters: language reads a language model, heads an encoder"):
        check_kind_of_model(DEFAULT)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"model_type": "bert", "num_attention_heads": 2}, "has no causal mask"),
        ({"model_type": "gemma2", "attn_logit_softcapping": 50.0}, "caps its scores by a tanh"),
        ({"model_type": "mistral", "sliding_window": 4096}, "sliding window of 4096"),
        ({"model_type": "bloom"}, "position biases"),
        ({"model_type": "qwen3_next"}, "without softmax attention"),
        ({"model_type": "qwen3_5", "layer_types": ["full_attention", "linear_attention"]}, "of the kind linear_att"),
        ({"model_type": "gpt_oss"}, "learned sinks"),
        ({"model_type": "deepseek_v3", "kv_lora_rank": 512}, "one latent vector in place of keys"),
        ({"model_type": "t5"}, "position biases"),
        ({"model_type": "falcon", "alibi": True}, "position biases"),
        ({"model_type": "llama", "num_attention_heads": 9, "num_key_value_heads": 2}, "9 heads, 2 KV heads"),
    ],
)
def test_a_language_model_here_of_another_formula_is_refused_before_any_job(tmp_path, facts, message):
    (tmp_path / "config.json").write_text(json.dumps(facts))
    with pytest.raises(ValueError, match=message):
        shape_of_model({"source": "local", "location": str(tmp_path)}, causal=True)


def test_the_shape_of_a_language_model_here(tmp_path):
    facts = {"model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": False, "hidden_size": 896}
    facts |= {"num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2}
    (tmp_path / "config.json").write_text(json.dumps(facts | {"max_position_embeddings": 32768}))
    assert shape_of_model({"source": "local", "location": str(tmp_path)}, causal=True) == (24, 14, 32768, 896)
