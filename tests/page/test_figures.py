"""A figure inside a page: its names are its own, its text is text, and those who do not see it are told."""

import re

import matplotlib.pyplot as plt
import pytest

from attnlimit.drawing.style import save, set_theme
from attnlimit.page.figures import inline


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> str:
    """A figure with a clip path, markers that are used again, and words."""
    set_theme()
    figure, axis = plt.subplots()
    axis.plot([1, 2, 3], [1, 4, 9], "o-", label="squares < cubes")
    axis.legend()
    path = tmp_path_factory.mktemp("figure") / "x.svg"
    save({"x": figure}, [str(path)])
    plt.close(figure)
    return path.read_text()


def test_two_figures_share_no_name_and_every_reference_is_met(drawn):
    names = []
    for name in ("a", "b"):
        element = inline(drawn, name, "words")
        own = re.findall(r'\bid="([^"]+)"', element)
        referred = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', element)
        assert referred and {one or other for one, other in referred} <= set(own)
        names += own
    assert len(names) == len(set(names)) and {"a", "b"} <= set(names)


def test_it_is_one_element_with_real_text_and_no_rules_for_the_rest_of_the_page(drawn):
    element = inline(drawn, "a", 'rate "β" < 1/2')
    assert element.startswith('<svg id="a" role="img" aria-label="rate &quot;β&quot; &lt; 1/2" viewBox="0 0 ')
    assert element.endswith("</svg>") and element.count("<svg") == 1
    assert "squares &lt; cubes</text>" in element
    assert not re.search(r"<style|<metadata|<!--|<\?xml|DOCTYPE|xlink", element)


def test_places_are_cut_to_a_hundredth_of_a_point(drawn):
    paths = "".join(re.findall(r'\bd="([^"]*)"', inline(drawn, "a", "")))
    before = "".join(re.findall(r'\bd="([^"]*)"', drawn))
    assert not re.search(r"\.\d{3}", paths) and re.search(r"\.\d{3}", before)
    both = [[float(number) for number in re.findall(r"-?[\d.]+", text)] for text in (paths, before)]
    assert both[0] == pytest.approx(both[1], abs=0.01)


def test_what_is_no_figure_is_refused():
    with pytest.raises(ValueError, match="no viewBox"):
        inline("<svg></svg>", "a", "")
