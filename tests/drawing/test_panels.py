"""Figures show what is stored: drawn points, lines and labels against the numbers of the dataset."""

from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex, to_rgba

from attnlimit.base.coordinates import PARTS, STATISTICS, WHOLE_LAYER, whole_layer
from attnlimit.drawing.panels import RoundNumbers, draw_predictions, draw_rates, plain
from attnlimit.drawing.style import COLOURS, NAMES, save, set_theme
from attnlimit.questions.heads.figures import convergence

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


@pytest.fixture
def axis():
    figure, axis = plt.subplots()
    yield axis
    plt.close(figure)


def test_points_intervals_and_label_are_those_of_the_fits(axis):
    """Hollow where the fit is no power law, saturated, or to an uncertain limit."""
    horizon, beta = np.array([0.3, 1.0, 2.0, 4.0]), np.array([0.5, 0.41, 0.2, 0.07])
    fits = xr.Dataset(
        {
            "horizon": ("setting", horizon),
            "beta": ("setting", beta),
            "beta_low": ("setting", beta - [0.01, 0.02, 0.03, 0.04]),
            "beta_high": ("setting", beta + [0.04, 0.03, 0.02, 0.01]),
            "misfit": ("setting", [False, True, False, False]),
            "saturated": ("setting", [False, False, False, True]),
            "limit_uncertain": ("setting", [False, False, True, False]),
        }
    )
    draw_rates(axis, fits, "#112233", "D", "d = 3", shift=1.1)
    intervals, points, _ = axis.collections
    x = 1.1 * horizon
    np.testing.assert_array_equal(points.get_offsets(), np.stack([x, beta], axis=1))
    ends = np.stack([np.stack([x, x], axis=1), np.stack([fits["beta_low"], fits["beta_high"]], axis=1)], axis=-1)
    np.testing.assert_array_equal(intervals.get_segments(), ends)  # (setting, end, xy)
    filled, hollow = to_rgba("#112233"), to_rgba("white")
    np.testing.assert_array_equal(points.get_facecolors(), [filled, hollow, hollow, hollow])
    assert axis.get_legend_handles_labels()[1] == ["d = 3"]


def test_curves_are_the_bound_and_the_heuristic_over_all_horizons(axis):
    horizon = np.array([2.0, 0.25, 1.0])
    draw_predictions(axis, horizon)
    half, heuristic, bound = axis.lines
    x = heuristic.get_xdata()
    assert x.min() < 0.25
    assert x.max() > 2.0
    np.testing.assert_array_equal(bound.get_xdata(), x)
    np.testing.assert_allclose(bound.get_ydata(), 1 / (2 * (1 + x**2)), rtol=1e-12)
    np.testing.assert_allclose(heuristic.get_ydata(), np.minimum(0.5, 1 / (1 + x**2)), rtol=1e-12)
    assert set(half.get_ydata()) == {0.5}


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((0.04, 15), [0.1, 1, 10]),
        ((0.2, 15), [0.3, 1, 3, 10]),
        ((64, 512), [100, 200, 500]),
        ((1e6, 1e10), [1e6, 1e8, 1e10]),
        ((0.9, 1.3), [1, 1.2]),
    ],
)
def test_round_numbers_on_a_logarithmic_axis(ends, ticks):
    found = RoundNumbers(4).tick_values(*ends)
    assert len(found) <= 4 and all(ends[0] <= tick <= ends[1] * (1 + 1e-9) for tick in found)
    np.testing.assert_allclose(found, ticks)


def test_one_format_for_numbers():
    assert [plain(number) for number in (0.05, 2.0, 1000, -0.25)] == ["0.05", "2", "1,000", "−0.25"]
    assert plain(1e6) == "$10^{6}$"


def made_up_rates() -> xr.Dataset:
    """What the figure reads of a store of rates: two layers of two heads and the whole."""
    n = np.array([100, 300, 1000, 5000])
    dims = ("statistic", "part", "layer", "head", "n")
    shape = (len(STATISTICS), len(PARTS), 2, 3)
    stream = np.random.default_rng(7)
    beta = stream.uniform(0.1, 0.6, shape)
    value = stream.uniform(0.5, 2, (*shape, 1)) * n ** -beta[..., None] * stream.uniform(0.9, 1.1, (*shape, len(n)))
    return xr.Dataset(
        {
            "value": (dims, value),
            "value_se": (dims, 0.05 * value),
            "beta": (dims[:-1], beta),
            "intercept": (dims[:-1], stream.uniform(-1, 1, shape)),
            "limit_scale": (("statistic", "layer", "head"), stream.uniform(0.5, 2, (len(STATISTICS), 2, 3))),
        }
        | {name: (dims[:-1], np.zeros(shape, bool)) for name in ("misfit", "saturated", "limit_uncertain")},
        coords={
            "statistic": list(STATISTICS),
            "part": list(PARTS),
            "layer": [0, 4],
            "head": [0, 1, WHOLE_LAYER],
            "n": n,
        },
    )


def circles(page: ElementTree.ElementTree, panel: str, colour: str) -> np.ndarray:
    """Where the round points of a colour stand in a panel, (point, xy) in the units of the page, in the order drawn."""
    shapes = {f"#{path.get('id')}": path.get("d") for path in page.iter(f"{SVG}path")}  # panels share them
    uses = page.find(f".//*[@id='{panel}']").iter(f"{SVG}use")
    chosen = [use for use in uses if "C" in shapes[use.get(LINK)] and f"fill: {colour}" in use.get("style")]
    return np.array([[float(use.get("x")), float(use.get("y"))] for use in chosen])


def spoken(page: ElementTree.ElementTree, panel: str) -> list[str]:
    """The words of a panel, without spaces; of a formula all letters, in the order of their fonts."""
    texts = page.find(f".//*[@id='{panel}']").iter(f"{SVG}text")
    return ["".join("".join(text.itertext()).split()) for text in texts]


def test_the_figure_of_a_store_shows_its_numbers(tmp_path):
    """On logarithmic axes a place on the page is affine in log n and in the log of the relative error."""
    rates = made_up_rates()
    whose = {"model": {"name": "someone/small"}, "corpus": {"name": "texts"}, "population": 5000}
    with matplotlib.rc_context():
        set_theme()
        save({"convergence": convergence(rates.assign_attrs(whose))}, [str(tmp_path / "convergence.svg")])
    page = ElementTree.parse(tmp_path / "convergence.svg")  # noqa: S314  # drawn just now
    drawn, stored, columns = [], [], []
    for number, layer in enumerate([0, 4]):
        panel = f"axes_{number + 1}"
        words = spoken(page, panel)
        assert f"layer{layer}" in words
        for name, colour in COLOURS.items():
            whole = whole_layer(rates).sel(statistic=name, part="error", layer=layer)
            (label,) = (word for word in words if word.startswith(f"{NAMES[name]},"))
            assert f"={float(whole['beta']):.2f}" in label
            drawn.append(circles(page, panel, to_hex(colour))[: rates.sizes["n"]])  # the last is the legend's
            stored.append(np.log(np.stack([whole["n"], whole["value"] / whole["limit_scale"]], axis=1)))
            columns.append(np.full(rates.sizes["n"], number))
    drawn, stored, columns = np.concatenate(drawn), np.concatenate(stored), np.concatenate(columns)
    across = np.stack([stored[:, 0], columns == 0, columns == 1], axis=1)  # one scale, each panel at its own place
    up = np.stack([stored[:, 1], np.ones(len(stored))], axis=1)  # panels share their axis
    for place, design, direction in ((drawn[:, 0], across, 1), (drawn[:, 1], up, -1)):
        line, *_ = np.linalg.lstsq(design, place, rcond=None)
        assert direction * line[0] > 0  # a page counts from its top
        np.testing.assert_allclose(design @ line, place, atol=1e-3)
