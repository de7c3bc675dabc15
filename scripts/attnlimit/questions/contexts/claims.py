"""The claim on neighbouring tokens: they are worth less than independent ones."""

import numpy as np

from attnlimit.base.coordinates import heads_only
from attnlimit.questions.contexts.fit import layers_measured, longest_run
from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    NOT_HERE,
    STATISTIC_NAMES,
    UNDECIDED,
    Part,
    could_fail,
    every_p,
    every_part,
    measured_of,
    p_above,
    p_below,
    spoken,
)


@claim(
    id="contexts_share",
    headline="Neighbouring tokens are worth less than independent ones",
    experiment="runs of text",
    ours=True,
    after_a_look=True,
    statement="A context of neighbouring tokens is worth less than as many independent ones.",
    test="Mean squared error of independent tokens over that of the longest runs, median over the heads measured; "
    "interval by resampling replicates, those of a layer together.",
    fits=("contexts",),
    figure="contexts",
    thresholds=("independent_share",),
)
def contexts_share(fits: Fits, thresholds: dict) -> Finding:
    """Is a token of the longest runs worth less than an independent one?  The median share over all heads measured.

    Holds for a statistic: the share's 95 % interval lies below 1.  Fails: it does not, and lies above
    `independent_share`, so that neighbours cost less than would count.  Both statistics must hold.  The run
    length and the heads are fixed by the config, so that nothing is picked from many.
    """
    data, least = fits.stores["contexts"], thresholds["independent_share"]
    run, length = longest_run(data)
    tails = {"freedom": data.attrs["replicates"] - 1}

    def find(statistic: str) -> Part:
        share, low, high = Estimate.of(data, "overall_share", run=run, statistic=statistic)
        if not np.isfinite([share, low, high]).all():
            return Part(UNDECIDED, {}, "no share", "only errors above zero could decide", NOT_HERE)
        below = heads_only(data["share_high"]).sel(run=run, statistic=statistic) < 1
        saturated = heads_only(data["saturated"]).sel(run=run, statistic=statistic, part="error")
        measured = {"share": share, "low": low, "high": high, "heads": below.size, "heads_below_1": int(below.sum())}
        measured |= {"saturated_heads": int(saturated.sum()), "seen_up_to": share / high}
        verdict = HOLDS if high < 1 else FAILS if low > least else UNDECIDED
        p = p_above((share, low, high), least, **tails) if verdict == FAILS else p_below((share, low, high), 1, **tails)
        power = f"a share of up to {share / high:.2f} would have been seen to be below 1, one above "
        power += f"{max(least * share / low, share / high):.2f} fails it"
        return Part(verdict, measured, f"{share:.2f} [{low:.2f}, {high:.2f}]", power, p=p)

    parts = {name: find(name) for name in STATISTIC_NAMES}
    return Finding(
        every_part(parts),
        f"share in runs of {length}: {spoken(parts)}; required: below 1",
        {"run": length} | measured_of(parts),
        f"A token in runs of {length} consecutive ones is worth this share of an independent one: {spoken(parts)} "
        f"(median over the heads of {layers_measured(data)}). Samples are drawn so that every token is equally likely "
        f"and the limit is the same; only which tokens come together differs.",
        could_fail(parts),
        p=every_p(parts),
        number=f"a token in runs of {length} is worth {parts['mean'].words} of one" if parts["mean"].measured else "",
    )
