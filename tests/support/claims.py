"""Results made to hold, to fail, or to decide nothing: fits with planted rates, and summaries of planted laws."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtr, ndtri

from attnlimit.base.coordinates import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.base.seeds import generator
from attnlimit.questions.hardmax.fit import hardmax_summary
from attnlimit.questions.sphere.fit import exact_constants, fit_constants
from attnlimit.questions.uniform.fit import fit_uniform
from attnlimit.stats.claim import Claim, Finding, Fits, error_fits
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.power_law import LOCAL, Bootstrap
from attnlimit.theory.bounds import predictions
from attnlimit.theory.hardmax import hardmax_error
from support.configs import DEFAULT

THRESHOLDS = DEFAULT["assess_claims"]
LOG10_LARGEST = DEFAULT["fit_hardmax"]["log10_largest"]
HORIZONS = np.array([0.05, 0.2, 0.4, 0.7, 1, 1.3, 1.7, 2, 2.5, 3])
RADII = np.array([0.25, 0.5, 0.75, 1, 1.25, 1.5])
SIZES = np.array([100, 1000, 10000, 100000])
ENDS = (("", 0), ("_low", -1), ("_high", 1))
DECADES = 10.0 ** np.arange(2, 12)


@dataclass(frozen=True)
class Tables(Fits):
    """Fits whose tables are given: truths that are easier to plant in rows."""

    tables: dict[str, pd.DataFrame] = field(default_factory=dict)

    def errors(self, name: str) -> pd.DataFrame:
        return self.tables[name] if name in self.tables else super().errors(name)


def judged(claim: Claim, *stores: xr.Dataset, **tables: pd.DataFrame) -> Finding:
    """What a claim finds on these stores of its fits, in their order, or on tables by name of the fit."""
    named = dict.fromkeys(tables, xr.Dataset()) | dict(zip(claim.fits, stores, strict=False))
    return claim(Tables(named, tables), THRESHOLDS)


def heuristic(horizon):
    return predictions(horizon, horizon**2)["heuristic"]


def curve(horizon):
    return predictions(horizon, horizon**2)["bound_v3"]


def rates(
    beta, horizon=HORIZONS, half=0.01, saturated=False, uncertain=False, n=(10**6, 10**8, 10**10), labels=None, **attrs
) -> xr.Dataset:
    """Fits of settings with these horizons, Psi = H^2; beta a function of H; other parts and statistics far off."""
    dims, shape = ("statistic", "part", "setting"), (len(STATISTICS), len(PARTS), len(horizon))
    names = [f"setting {number}" for number in range(len(horizon))]
    labels_of_dims = {"statistic": list(STATISTICS), "part": list(PARTS), "setting": names, "n": list(n)}
    data = xr.Dataset(coords=labels_of_dims)
    numbers = np.full(shape, 9.0)
    numbers[:2, PARTS.index("error")] = beta(horizon)
    data["beta"], data["beta_low"], data["beta_high"] = ((dims, numbers + shift) for shift in (0, -half, half))
    for name in LOCAL:
        data[name] = ((*dims, "interval"), np.zeros((*shape, len(n) - 1)))
    data["misfit"] = (dims, np.zeros(shape, bool))
    data["saturated"] = (dims, np.broadcast_to(saturated, shape).copy())
    data["limit_uncertain"] = (dims, np.broadcast_to(uncertain, shape).copy())
    couplings = {"horizon": horizon, "psi": horizon**2, "horizon_published": 7 * horizon}
    for name, values in (couplings | predictions(horizon, horizon**2) | (labels or {})).items():
        data[name] = ("setting", values)
    return data.assign_attrs({"source": "gaussian", "replicates": 8} | attrs)


def model_rates(beta, layer=0, **changes) -> xr.Dataset:
    """Fits of the heads of one layer; beside them the whole layer, its rate far below every bound."""
    heads = rates(beta, **changes)
    heads = heads.rename(setting="head").assign_coords(head=range(heads.sizes["setting"]))
    whole = heads.isel(head=[0]).assign_coords(head=[WHOLE_LAYER])
    couplings = {name: array for name, array in heads.items() if array.dims == ("head",)}
    whole = whole.assign({name: 0 * whole[name] + 0.01 for name in ("beta", "beta_low", "beta_high")})
    joined = xr.concat([heads, whole], "head", data_vars="minimal").assign_attrs(heads.attrs)
    return joined.assign({name: array.reindex(head=joined["head"]) for name, array in couplings.items()}).expand_dims(
        layer=[layer]
    )


def fits(beta, **changes):
    return error_fits(rates(beta, **changes))


def uniform(constant, rate=0.5, carriers=1000.0, replicates=60, noise=0.05, compact=True) -> xr.Dataset:
    """What fit_uniform keeps of suprema constant(R) n^-rate on a line, with noise that the radii share."""
    shared = np.exp(noise * generator(1, "noise").normal(size=(1, replicates, len(SIZES))))
    sup = constant(RADII)[:, None, None] * SIZES**-rate * shared
    effective = np.broadcast_to(np.sqrt(carriers * SIZES), sup.shape)
    drawn = {"sup": sup, "sup_coarse": 0.99 * sup, "effective": effective}
    balls = {"dimension": np.ones(len(RADII), int), "radius": RADII, "compact": np.full(len(RADII), compact)}
    balls |= {"clt_edge": constant(RADII), "clt_sup": constant(RADII), "clt_sup_se": 0.01 * constant(RADII)}
    suprema = xr.Dataset(
        {name: (("setting", "replicate", "n"), values) for name, values in drawn.items()}
        | {name: ("setting", values) for name, values in balls.items()},
        coords={"n": SIZES, "setting": range(len(RADII)), "law": ("setting", ["interval, d = 1"] * len(RADII))},
    )
    options, joint = DEFAULT["fit_uniform"], (False, True, True)
    bootstraps = [Bootstrap(400, each, generator(1, "bootstrap", number)) for number, each in enumerate(joint)]
    return fit_uniform(suprema, bootstraps, 3, options["slope_tolerance"], options["carriers"])


def constants_fit(constants=exact_constants, dimensions=(1, 3), replicates=4) -> xr.Dataset:
    """What fit_constants makes of errors of the size that the constants (mean, covariance) of d and R ask for."""
    places = [(dimension, radius) for dimension in dimensions for radius in (0.5, 2.0)]
    sizes = np.array([constants(*place) for place in places])[..., None] * np.ones(replicates) / 10
    errors = xr.Dataset(
        {
            "error": (("setting", "statistic", "replicate"), sizes),
            "drawn_dimension": ("setting", [dimension for dimension, _ in places]),
            "drawn_radius": ("setting", [radius for _, radius in places]),
        },
        coords={"setting": range(len(places)), "statistic": ["mean", "cov"]},
        attrs={"n": 100},
    )
    return fit_constants(errors, list(dimensions), DEFAULT["fit_constants"]["span"], constants)


def hardmax_fit(expectation=hardmax_error, drawn=None, n=DECADES, relative=0.002) -> xr.Dataset:
    """What hardmax_summary makes of this expectation, and of replicates drawn(ln n) of this relative standard error."""
    value = np.array([drawn(np.log(size)) if drawn else expectation(np.log(size), 1.0) for size in n])
    spread = 1 + 2 * relative * np.array([1, 1, -1, -1])  # of four replicates
    line = xr.DataArray(
        value[:, None] * spread, dims=("n", "replicate_line"), coords={"n": n.astype(np.int64)}, name="line_error"
    )
    plane = line.rename("plane_error").rename(replicate_line="replicate_plane")
    direct = plane.rename("direct_error").rename(n="n_direct").expand_dims(dimension=[2])
    errors = xr.merge([line, plane, direct]).assign_attrs(sigma=1.0)
    return hardmax_summary(errors, LOG10_LARGEST, expectation)


def normality_fit(coverage=0.95, spread=1.0, carriers=(5000, 2000, 1), replicates=20000) -> xr.Dataset:
    """Three tilts at one n, the last with too few tokens and far off in all it says.

    A normal law `spread` times too wide is max |Phi(s z) - Phi(z)| from the normal.
    """
    place, normal = ("setting", "n", "coordinate"), ndtri(np.linspace(0.005, 0.995, 100))
    covered = np.full((3, 1, 2), coverage)
    covered[2] = 0.3
    distance = np.full((3, 1, 2), np.abs(ndtr(spread * normal) - ndtr(normal)).max())
    distance[2] = 0.4
    data = xr.Dataset(
        {
            "coverage": (place, covered),
            "coverage_se": (place, np.sqrt(covered * (1 - covered) / replicates)),
            "distance": (place, distance),
            "carriers": (("setting", "n"), np.array(carriers, float)[:, None]),
            "tilt": ("setting", [0.0, 1, 3]),
        }
        | Estimate(0.01, 0.008, 0.012).variables("shortfall")
        | Estimate(0.5, 0.4, 0.6).variables("shortfall_power"),
        coords={"n": [30000]},
    )
    return data.assign_attrs(level=0.95, replicates=replicates)


def contexts_fit(share=0.3, relative=0.1, lengths=(1, 16, 256), heads=4) -> xr.Dataset:
    """Shares of the longest runs with an interval of this relative half-width, in two layers; others far off."""
    runs, far = [*map(str, lengths), "document"], 7.0
    dims, shape = ("run", "statistic"), (len(runs), len(STATISTICS))
    values = np.full(shape, far)
    values[runs.index(str(max(lengths))), :2] = share
    whole = (2, *shape, heads)
    data = {f"overall_share{end}": (dims, values * (1 + relative) ** power) for end, power in ENDS}
    data["share_high"] = (("layer", *dims, "head"), np.broadcast_to(1.1 * values[..., None], whole))
    data["saturated"] = (("layer", *dims, "part", "head"), np.zeros((2, *shape, len(PARTS), heads), bool))
    labels = {"run": runs, "statistic": list(STATISTICS), "layer": [0, 5], "part": list(PARTS)}
    return xr.Dataset(data, coords=labels, attrs={"replicates": 16})
