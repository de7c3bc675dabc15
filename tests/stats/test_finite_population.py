"""Draws without replacement are told wherever the model's rates are shown, and only then."""

from copy import deepcopy
from types import SimpleNamespace

import jinja2
import numpy as np
import pytest
import xarray as xr

from attnlimit.attention.draws import draws
from attnlimit.base.coordinates import PARTS, STATISTICS
from attnlimit.page.answer import answer
from attnlimit.questions.heads.claims import model_remark
from attnlimit.sampling.errors import limit_is_exact
from attnlimit.stats.fits import WITHOUT_REPLACEMENT
from support.configs import DEFAULT, ROOT

CAPTIONS = ["answer", "beta_vs_horizon", "bias_fluctuation", "convergence", "heat_map", "local_slopes"]


@pytest.mark.parametrize("size", [10, 50, 90])
def test_an_error_without_replacement_is_smaller_by_the_root_of_what_is_left(size):
    """Of a mean of n from N numbers: sqrt((N - n) / (N - 1)) times as large, with replacement 1."""
    numbers = np.random.default_rng(0).normal(size=100)

    def error(replacement: bool) -> float:
        samples = [draws(100, [size], True, replacement, 1, 0, replicate)[0][0] for replicate in range(3000)]
        return np.sqrt(np.mean([(numbers[rows].mean() - numbers.mean()) ** 2 for rows in samples]))

    expected = numbers.std() / np.sqrt(size)
    assert error(True) == pytest.approx(expected, rel=0.06)
    assert error(False) == pytest.approx(expected * np.sqrt((100 - size) / 99), rel=0.06)


def test_a_limit_is_exact_with_replacement_and_all_queries():
    assert limit_is_exact(True, queries=100, population=100)
    assert not limit_is_exact(False, queries=100, population=100)
    assert not limit_is_exact(True, queries=50, population=100)


def rates(**attrs) -> xr.Dataset:
    dims = ("layer", "statistic", "part", "head")
    shape = (1, len(STATISTICS), len(PARTS), 3)
    stream = np.random.default_rng(0)
    data = xr.Dataset(
        {name: (dims, stream.uniform(0.1, 1, shape)) for name in ("beta", "beta_low", "beta_high", "chi2", "dof")},
        coords={"layer": [0], "head": [0, 1, 2], "n": [64, 128], "statistic": list(STATISTICS), "part": list(PARTS)},
    )
    data["beta_low"] = data["beta_high"] - 0.1
    data["horizon"] = (("layer", "head"), [[0.5, 1.0, 2.0]])
    data["bound_v3"] = 1 / (2 * (1 + data["horizon"] ** 2))
    data["misfit"] = data["saturated"] = data["limit_uncertain"] = data["beta"] < 0
    data["limit_se_share"] = 0 * data["beta"]
    data["tokens_needed"] = (("eps", "statistic", "layer", "head"), np.full((1, len(STATISTICS), 1, 3), 100.0))
    return data.assign_coords(eps=[0.05]).assign_attrs(
        model={"name": "m"}, corpus={"name": "text"}, population=1000, **attrs
    )


def test_the_answer_and_the_claims_say_so():
    without, plain = rates(replacement=False), rates(replacement=True)
    assert answer(without, 0.1) == answer(plain, 0.1) | {"replacement": f"note: {WITHOUT_REPLACEMENT}"}
    assert WITHOUT_REPLACEMENT in model_remark(without) and WITHOUT_REPLACEMENT not in model_remark(plain)


@pytest.mark.parametrize("name", CAPTIONS)
def test_the_captions_say_so(name):
    """In the same words as answer and claims."""
    template = jinja2.Template((ROOT / f"rules/report/{name}.rst").read_text())

    def caption(replacement: bool) -> str:
        config = deepcopy(DEFAULT)
        config["measure_errors"]["replacement"] = replacement
        return " ".join(template.render(snakemake=SimpleNamespace(config=config)).split())

    assert WITHOUT_REPLACEMENT[1:] in caption(False)
    assert "without replacement" not in caption(True)
    assert "must reach in the end" not in caption(False)
