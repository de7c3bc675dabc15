"""How the constant of the moments grows with the size R of the tokens' support: exact, by first order."""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from attnlimit.stats.power_law import local_slopes
from attnlimit.theory.interval import interval_constants
from attnlimit.theory.sphere import sphere_constants

STATISTICS = ("mean", "cov")
POINTS = 20  # radii for a factor of ten
SMALLEST = 0.1  # radius, over sqrt(d)

Constants = Callable[[float], tuple[float, float]]  # of a radius: those of the mean and of the covariance
ConstantsOf = Callable[[int, float], tuple[float, float]]  # of a dimension and a radius


def law_name(dimension: int) -> str:
    """Of the tokens: in one dimension an interval, else a sphere."""
    return "interval, d = 1" if dimension == 1 else f"sphere, d = {dimension}"


def exact_constants(dimension: int, radius: float) -> tuple[float, float]:
    return interval_constants(radius) if dimension == 1 else sphere_constants(dimension, radius)


def growth_of(constants: Constants, dimension: int, span: float) -> xr.Dataset:
    """C'(R) of one law from R = sqrt(d) / 10 to span sqrt(d), and its local power d ln C' / d ln R.

    At R = sqrt(d) attention goes from flat to sharp: a_d(R^2) is about 1/2.  C' = lim sqrt(n) times the root mean
    square error.  A polynomial of degree p has local powers that end at p; those of exp(c R) are c R and never end.
    """
    radius = np.sqrt(dimension) * np.geomspace(SMALLEST, span, int(np.ceil(POINTS * np.log10(span / SMALLEST))) + 1)
    constant = np.array([constants(each) for each in radius]).T  # (statistic, radius)
    return xr.Dataset(
        {
            "radius": ("place", radius),
            "dimension": dimension,
            "constant": (("statistic", "place"), constant),
            "local_power": (("statistic", "place_interval"), -local_slopes(radius, constant)),
        },
        coords={"statistic": list(STATISTICS)},
    )


def fit_constants(
    errors: xr.Dataset, dimensions: list[int], span: float, constants: ConstantsOf = exact_constants
) -> xr.Dataset:
    """The exact growth of C'(R) for each law, and sqrt(n) times the simulated error beside its exact limit.

    errors: error (setting, statistic, replicate), with dimension and radius (setting), of samples of n tokens.
    """
    laws = [growth_of(partial(constants, d), d, span) for d in dimensions]
    growth = xr.concat(laws, "law").assign_coords(law=[law_name(d) for d in dimensions])
    squares = errors.attrs["n"] * errors["error"].values ** 2  # (setting, statistic, replicate)
    simulated = np.sqrt(squares.mean(-1))
    drawn = zip(errors["drawn_dimension"].values, errors["drawn_radius"].values, strict=True)
    exact = [constants(int(dimension), float(radius)) for dimension, radius in drawn]
    place = ("setting", "statistic")
    return growth.assign(
        simulated=(place, simulated),
        simulated_se=(place, squares.std(-1) / np.sqrt(squares.shape[-1]) / (2 * simulated)),
        exact=(place, np.array(exact)),
        drawn_dimension=errors["drawn_dimension"],
        drawn_radius=errors["drawn_radius"],
    ).assign_coords(setting=errors["setting"])
