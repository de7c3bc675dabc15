"""Which studies are asked for, and what a comparison of some is made of."""

from pathlib import Path

import pytest
import yaml

from attnlimit.workflow.study_files import SIZES, chosen_studies, known_runs, write_comparison
from support.configs import DEFAULT, ROOT

PERTURBED = ["words", "sentences", "repeat"]
DEFAULT_SET = {"wikipedia", "literature", "biomedical", "legal", "code", "wikipedia-bge", "code-bge"}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    for name in ("configs/studies/code.yaml", "configs/studies/code-bge.yaml", "mine.yaml", "other/code.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("seed: 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_are_chosen_if_none_is_named(project):
    assert [study.name for study in chosen_studies(project, [])] == ["code", "code-bge"]
    assert {study.name for study in chosen_studies(ROOT, [])} >= DEFAULT_SET


def test_what_an_editor_keeps_beside_an_open_file_is_no_study(project):
    (project / "configs/studies/.#code.yaml").symlink_to("user@host.123")
    assert [study.name for study in chosen_studies(project, [])] == ["code", "code-bge"]


def test_studies_in_a_folder_below_run_only_by_name(project):
    (project / "configs/studies/perturbed").mkdir()
    (project / "configs/studies/perturbed/words.yaml").write_text("seed: 1\n")
    assert [study.name for study in chosen_studies(project, [])] == ["code", "code-bge"]
    (words,) = chosen_studies(project, ["words"])
    assert words.config == [SIZES, "configs/studies/perturbed/words.yaml"] and words.folder == Path("runs/words")
    (project / "configs/studies/perturbed/code.yaml").write_text("seed: 1\n")
    with pytest.raises(ValueError, match=r"/code\.yaml: configs/\S+code\.yaml has the same name; rename one of them"):
        chosen_studies(project, ["words"])


def test_a_file_that_cannot_be_a_run_stops_no_other(project):
    (project / "configs/studies/my_code.yaml").write_text("seed: 1\n")
    assert {"code", "code-bge"} <= set(known_runs(project))
    with pytest.raises(ValueError, match=r"my_code\.yaml: 'my_code' is not a short name of letters, digits and -"):
        chosen_studies(project, [])


def test_perturbed_texts_differ_from_wikipedia_in_that_alone():
    """And in that their heads are not changed (chapter interventions), which no number of the others depends on."""
    plain, *perturbed = (
        yaml.safe_load((ROOT / study.config[-1]).read_text())
        for study in chosen_studies(ROOT, ["wikipedia", *PERTURBED])
    )
    plain |= {"chapters": ["heads", "tails"]}
    wanted = [plain | {"fetch_corpus": plain["fetch_corpus"] | {"perturb": name}} for name in PERTURBED]
    again = yaml.safe_load((ROOT / chosen_studies(ROOT, ["wikipedia-again"])[0].config[-1]).read_text())
    assert again.pop("seed") != DEFAULT["seed"] and again == plain
    assert perturbed == wanted and not {study.name for study in chosen_studies(ROOT, [])} & set(PERTURBED)


def test_a_name_and_a_file_of_ones_own(project):
    code, mine = chosen_studies(project, ["code", "mine.yaml"])
    assert code.config == [SIZES, "configs/studies/code.yaml"] and code.folder == Path("runs/code")
    assert mine.config == [SIZES, "mine.yaml"] and mine.folder == Path("runs/mine")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["cod"], "STUDIES: no study 'cod' here; did you mean 'code'?"),
        (["zzz"], "STUDIES: no study 'zzz' here; there are code, code-bge"),
        (["gone.yaml"], "STUDIES: no study 'gone.yaml' here; there are code, code-bge"),
        (["code", "other/code.yaml"], "STUDIES: 'code' is there twice; rename one of the files, or name it once"),
        (["studies.yaml"], "studies.yaml: 'studies' is taken; rename the file"),
        (["a{b}.yaml"], "a{b}.yaml: 'a{b}' is not a short name of letters, digits and -; rename the file"),
    ],
)
def test_what_is_no_study_is_refused_in_one_line(project, words, told):
    for name in ("studies.yaml", "a{b}.yaml"):
        (project / name).write_text("seed: 1\n")
    with pytest.raises(ValueError) as error:
        chosen_studies(project, words)
    assert str(error.value) == told


def test_a_comparison_names_its_runs_and_what_is_missing(tmp_path):
    path = tmp_path / "runs/studies.yaml"
    write_comparison(path, ["code", "default"], {"legal": "config: fetch_corpus: 'x' is wrong; mend it\tthere"})
    assert yaml.safe_load(path.read_text()) == {
        "chapters": ["studies"],
        "compare_studies": {
            "studies": {"code": "runs/code", "default": "."},
            "missing": {"legal": "config: fetch_corpus: 'x' is wrong; mend it\tthere"},
        },
    }


def test_studies_ask_only_what_depends_on_model_and_text():
    """Over n within those of the default run, and against exact limits."""
    sizes, default = yaml.safe_load((ROOT / SIZES).read_text()), DEFAULT["measure_errors"]["sizes"]
    assert set(sizes["chapters"]) == {"heads", "tails", "interventions"} and sizes["compute_limits"]["queries"] == 0
    assert default[0] == sizes["measure_errors"]["sizes"][0] < sizes["measure_errors"]["sizes"][-1] <= default[-1]
