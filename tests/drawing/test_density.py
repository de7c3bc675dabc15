"""Densities of clouds: the bandwidth adds its variance, contours hold their share, windows are square."""

import numpy as np
import pytest

from attnlimit.base.seeds import generator
from attnlimit.drawing.density import density, levels_of, window


def test_contours_hold_their_share_of_a_normal_cloud():
    """The densest half of N(0, s^2 I) is the disc of radius s sqrt(2 ln 2), s^2 = 1 + n^(-1/3) after smoothing."""
    points = generator(1, "density").normal(size=(20000, 2))
    x, y, heights = density(points, ((-6, 6), (-6, 6)))
    (level,) = levels_of(heights, (0.5,))
    area = (heights >= level).sum() * (x[1] - x[0]) * (y[1] - y[0])
    assert area == pytest.approx(2 * np.pi * np.log(2) * (1 + 20000 ** (-1 / 3)), rel=0.03)
    assert heights.sum() == pytest.approx(1, abs=1e-3)


def test_levels_rise_and_rows_are_y():
    points = generator(2, "density").normal(size=(5000, 2)) * [0.1, 1] + [2, -1]
    x, y, heights = density(points, ((0, 4), (-5, 3)))
    outer, inner = levels_of(heights, (0.5, 0.9))
    assert 0 < outer < inner
    row, column = np.unravel_index(heights.argmax(), heights.shape)
    assert x[column] == pytest.approx(2, abs=0.1) and y[row] == pytest.approx(-1, abs=0.4)


def test_a_window_is_square_and_holds_the_points():
    points = generator(3, "density").uniform(-1, 1, size=(2, 500, 2)) * [1, 3]
    (left, right), (bottom, top) = window(points)
    assert right - left == pytest.approx(top - bottom)
    assert bottom < -3 < 3 < top
