"""The same figure gives the same bytes, whenever it is drawn."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlimit.base.job import QUICK_LOOK
from attnlimit.drawing.style import layer_colours, save, set_theme


@pytest.fixture
def theme():
    with matplotlib.rc_context():
        set_theme()
        yield
        plt.close("all")


def draw():
    """With what svg and pdf give identifiers to: clips, markers, hatches, transparency, text."""
    figure, axis = plt.subplots(figsize=(3, 2))
    n = np.geomspace(10, 1000, 5)
    axis.errorbar(n, n**-0.5, 0.1 * n**-0.5, fmt="o", mfc="white", capsize=1.5, label=r"$\beta$ = 0.50")
    axis.fill_between(n, n**-0.6, n**-0.4, alpha=0.1, hatch="//")
    axis.set(xlabel="tokens $n$", title="layer 0")
    axis.legend()
    return figure


def test_saving_twice_gives_the_same_bytes(theme, tmp_path, monkeypatch):
    """Matplotlib takes the date from SOURCE_DATE_EPOCH: a date in a file would differ here."""
    figure = draw()
    kinds = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    for day, drawn in enumerate([figure, figure, draw()]):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(86400 * day))
        save({str(day): drawn}, [str(tmp_path / f"{day}.{kind}") for kind in kinds])
    assert len(list(tmp_path.iterdir())) == 9
    for kind, start in kinds.items():
        first, again, anew = (tmp_path.joinpath(f"{day}.{kind}").read_bytes() for day in range(3))
        assert first.startswith(start)
        assert first == again == anew, kind


def test_a_quick_look_is_said_to_be_one_above_the_title(theme, tmp_path):
    for title in ("", "heads of a model"):
        figure = draw()
        figure.suptitle(title)
        for quick in (False, True):
            save({"drawn": figure}, [str(tmp_path / "drawn.svg")], quick)
            drawn = (tmp_path / "drawn.svg").read_text()
            assert (QUICK_LOOK in drawn) == quick and title in drawn
            assert drawn.index(QUICK_LOOK) < drawn.index(title) if quick and title else True


def test_each_layer_has_its_own_colour():
    colours = layer_colours(np.arange(12))
    assert list(colours) == list(range(12))
    assert len(set(colours.values())) == 12
