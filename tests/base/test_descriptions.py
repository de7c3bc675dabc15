"""Every variable says in words what it is: by its name, by the ending of its name, or as that of a whole layer."""

import re

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS
from attnlimit.base.descriptions import ENDINGS, NAMES, UNITS, described, long_name
from attnlimit.questions.normality.measure import COORDINATES


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("beta", "rate: minus the slope of log error on log n"),
        ("beta_low", "lower end of the 95 % interval of the rate: minus the slope of log error on log n"),
        ("limit_mean_se", "standard error of the mean of the transformed tokens in the limit"),
        ("plane_value_se", "standard error of the mean error over replicates: hardmax in a plane"),
        ("limit_se", NAMES["limit_se"]),  # a name of its own goes before the ending
    ],
)
def test_words_of_a_name(name, words):
    assert long_name(name) == words


@pytest.mark.parametrize("name", ["bata", "", "_se", "bata_se"])
def test_a_name_that_nobody_described_has_no_words(name):
    assert long_name(name) == ""


def test_words_are_there_for_what_the_labels_stand_for():
    for labels, coordinate in ((STATISTICS, "statistic"), (PARTS, "part"), (COORDINATES, "coordinate")):
        assert all(re.search(rf"\b{label}\b", NAMES[coordinate]) for label in labels), coordinate


def test_endings_are_filled_in_and_units_are_of_described_names():
    assert all(words.count("{}") == 1 for words in ENDINGS.values())
    assert all("{" not in words for words in NAMES.values())
    assert all(long_name(name) for name in UNITS)


def test_a_dataset_is_described_and_otherwise_left_alone():
    data = xr.Dataset(
        {
            "beta": ("head", [0.5, 0.4]),
            "tokens_needed": ((), 100.0),
            "strange": ("head", [1, 2]),
        },
        coords={"head": [0, 1], "n": np.array([8, 16])},
        attrs={"source": "heads"},
    )
    found = described(data)
    assert found["beta"].attrs == {"long_name": NAMES["beta"]}
    assert found["tokens_needed"].attrs["units"] == found["n"].attrs["units"] == "tokens"
    assert found["head"].attrs["long_name"] == NAMES["head"]
    assert found["strange"].attrs == {}
    assert found.attrs == {"source": "heads"}
    xr.testing.assert_equal(found, data)
    assert not any(array.attrs for array in data.variables.values())  # the given one is not written to
