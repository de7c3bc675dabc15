"""What the replicates of the hardmax say: means with their errors, slopes, the power of ln n."""

import numpy as np
import xarray as xr

from attnlimit.stats.power_law import fit, local_slopes
from attnlimit.theory.hardmax import hardmax_expected_error, hardmax_proposition


def decay(errors: xr.DataArray) -> xr.Dataset:
    """Mean of {name}_error (…, n, replicate), its standard error, and how it falls between neighbouring n.

    local_slope: as a power of n;  local_power: as a power of ln n.
    """
    name, (*units, along, _) = str(errors.name).removesuffix("_error"), errors.dims
    sizes, value = errors[along].values, errors.values.mean(-1)
    interval = (*units, f"{along}_interval")
    return xr.Dataset(
        {
            f"{name}_value": ((*units, along), value),
            f"{name}_value_se": ((*units, along), errors.values.std(-1) / np.sqrt(errors.shape[-1])),
            f"{name}_local_slope": (interval, local_slopes(sizes, value)),
            f"{name}_local_power": (interval, local_slopes(np.log(sizes), value)),
        },
        coords={axis: errors[axis] for axis in (*units, along)},
    )


def hardmax_summary(errors: xr.Dataset, from_n: int) -> xr.Dataset:
    """The decay of each simulation beside the exact expectation and Proposition 5.1, d = 1.

    ratio: exact over proposed;  line_ratio: drawn over proposed, with its standard error.  log_power, log_power_se,
    log_chi2: E|mean_n| as a power of 1/ln n over the n from from_n on;  power_chi2: the same as a power of 1/n;
    expected_log_power: that of the exact expectation, with the same weights.
    """
    sizes, sigma = errors["n"].values, errors.attrs["sigma"]
    summary = xr.merge([decay(errors[name]) for name in ("line_error", "plane_error", "direct_error")])
    expected = np.array([hardmax_expected_error(n, sigma) for n in sizes])
    proposition = np.array([hardmax_proposition(n, sigma) for n in sizes])
    value, se = summary["line_value"].values, summary["line_value_se"].values
    late = sizes >= from_n
    logarithmic, power = (
        fit(x, value[late], (se[late] / value[late]) ** 2) for x in (np.log(sizes[late]), sizes[late].astype(float))
    )
    exact = fit(np.log(sizes[late]), expected[late], (se[late] / value[late]) ** 2)
    return summary.assign(
        expected=("n", expected),
        proposition=("n", proposition),
        ratio=("n", expected / proposition),
        line_ratio=("n", value / proposition),
        line_ratio_se=("n", se / proposition),
        late_sizes=int(late.sum()),
        expected_log_power=float(exact["beta"]),
        log_power=float(logarithmic["beta"]),
        log_power_se=float(logarithmic["se"]),
        log_chi2=float(logarithmic["chi2"]),
        power_chi2=float(power["chi2"]),
    )
