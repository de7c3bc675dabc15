"""The claim on neighbouring tokens: they are worth less than independent ones."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import heads_only
from attnlimit.questions.contexts.fit import layers_measured, longest_run
from attnlimit.stats.statements import STATEMENTS
from attnlimit.stats.verdicts import AFTER_A_LOOK, FAILS, HOLDS, UNTESTED, Finding, Record, every, pick, powers, spoken


def contexts_share(fits: xr.Dataset, thresholds: dict) -> Record:
    """Is a token of the longest runs worth less than an independent one?  The median share over all heads measured.

    Holds for a statistic: the share's 95 % interval lies below 1.  Fails: it does not, and lies above
    `independent_share`, so that neighbours surely cost less than would count.  Both statistics must hold.  The run
    length and the heads are fixed by the config, so that nothing is picked from many.
    """
    run, length = longest_run(fits)
    least = thresholds["independent_share"]
    layers = layers_measured(fits)

    def find(statistic: str) -> Finding:
        share, low, high = (
            float(fits[f"overall_share{end}"].sel(run=run, statistic=statistic)) for end in ("", "_low", "_high")
        )
        if not np.isfinite([share, low, high]).all():
            return Finding(UNTESTED, {}, "no share", "only errors above zero could decide")
        below = heads_only(fits["share_high"]).sel(run=run, statistic=statistic) < 1
        saturated = heads_only(fits["saturated"]).sel(run=run, statistic=statistic, part="error")
        measured = {"share": share, "low": low, "high": high, "heads": below.size, "heads_below_1": int(below.sum())}
        measured |= {"saturated_heads": int(saturated.sum()), "seen_up_to": share / high}
        verdict = HOLDS if high < 1 else FAILS if low > least else UNTESTED
        power = f"a share of up to {share / high:.2f} would have been seen to be below 1, one above "
        power += f"{max(least * share / low, share / high):.2f} fails it"
        return Finding(verdict, measured, f"{share:.2f} [{low:.2f}, {high:.2f}]", power)

    findings = {name: find(name) for name in ("mean", "cov")}
    return Record(
        "contexts_share",
        STATEMENTS["contexts_share"],
        every([finding.verdict for finding in findings.values()]),
        f"share in runs of {length}: {spoken(findings)}; required: below 1",
        {"run": length} | {name: finding.measured for name, finding in findings.items()},
        f"Mean squared error of independent tokens over that of runs of {length}, median over the heads of "
        f"{layers}; interval by resampling replicates, those of a layer together.",
        pick(thresholds, "level", "independent_share"),
        ["results/rates/contexts.zarr.zip", "figure contexts"],
        f"A token in runs of {length} consecutive ones is worth this share of an independent one: {spoken(findings)} "
        f"(median over the heads of {layers}). Samples are drawn so that every token is equally likely and the "
        f"limit is the same; only which tokens come together differs.{AFTER_A_LOOK}",
        f"yes: {powers(findings)}",
    )
