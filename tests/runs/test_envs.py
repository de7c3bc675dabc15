"""Rules say what they need; the lock is exact."""

import re

from support.envs import ROOT, RULES, SCRIPTS


def test_each_figure_can_say_that_a_run_is_a_quick_look():
    writers = [path for path in SCRIPTS.glob("*.py") if re.search(r"\bsave\(", path.read_text())]
    rules = "".join(path.read_text() for path in ROOT.glob("rules/*.smk"))
    assert {path.stem for path in writers} >= {name for name in RULES if name.startswith("plot_")}
    for path in writers:
        assert "quick_look" in path.read_text(), path
        body = re.search(rf"^rule {path.stem}:\n(.*?)(?=^rule |\Z)", rules, re.M | re.S)[1]
        assert 'quick_look=config["quick_look"]' in body or "config=config" in body, path


def test_lock_is_exact():
    lines = [
        line for line in (ROOT / "requirements.lock").read_text().splitlines() if line and not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
