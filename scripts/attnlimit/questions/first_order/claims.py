"""The claim on first order: it tells the error of most heads."""

import numpy as np

from attnlimit.base.coordinates import heads_only
from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import ENDS
from attnlimit.stats.verdicts import UNDECIDED, chance, decide, z_score


@claim(
    id="first_order_predicts",
    headline="The influence of single tokens predicts a head's error, without a fit",
    experiment="heads of {model}",
    ours=True,
    statement="Heads of {model}: what a single token does to the outputs tells the root-mean-square error of their "
    "mean at the largest n, within 10 % and with nothing fitted, in at least four of five heads.",
    test="Share of heads whose predicted error is within the tolerance of the measured one; interval by resampling "
    "replicates, those of a layer together, and the predictions by their standard errors; it fails only by heads whose "
    "95 % interval lies entirely outside.",
    fits=("first_order",),
    figure="first_order",
    thresholds=("first_order_tolerance", "first_order_share", "fewest_fits"),
)
def first_order_predicts(fits: Fits, thresholds: dict) -> Finding:
    """Does the share of heads with |predicted / measured - 1| within the tolerance lie above, or below, the share?

    Only heads that do not rest on few tokens at the largest n count; of the others first order claims nothing.  The
    lower end of the share: 1.96 standard deviations of the resampled share below the observed one. Noise moves heads
    out of a band that holds most of them more often than into it, so it does not help the claim. Nor may it fail it:
    the upper end counts all heads whose own 95 % interval is not wholly outside, and lies at least as far
    from the observed share as the lower one.
    """
    tolerance, least = thresholds["first_order_tolerance"], thresholds["first_order_share"]
    data = heads_only(fits.stores["first_order"])
    few = data["few_tokens"].values.astype(bool)  # (layer, head)
    of_mean = data.sel(statistic="mean")
    n, every, count = int(data["n"][-1]), few.size, int((~few).sum())
    measured: dict = {"n": n, "heads": count, "on_few_tokens": every - count}
    others = f" {every - count} of {every} heads rest on few tokens and are left out." if few.any() else ""
    if count < max(thresholds["fewest_fits"], every / 2):
        words = f"only {count} of {every} heads do not rest on few tokens at n = {n:,}"
        return Finding(UNDECIDED, words, measured, f"{words}.", "not here: only larger n could decide")
    order = of_mean["few_tokens"].dims
    ratio, low, high = (of_mean[f"ratio{end}"].isel(n=-1).transpose(*order).values[~few] for end in ENDS)
    certain = int(((low >= 1 - tolerance) & (high <= 1 + tolerance)).sum())
    outside = int(((high < 1 - tolerance) | (low > 1 + tolerance)).sum())
    inside = np.abs(ratio - 1) <= tolerance
    drawn = np.abs(of_mean["ratio_resampled"].transpose("draw", *order).values[:, ~few] - 1) <= tolerance
    half = z_score(0.95) * float(drawn.mean(1).std(ddof=1))
    share = float(inside.mean())
    most = max(1 - outside / count, share + half)
    ends = max(share - half, 0.0), min(most, 1.0)
    at = np.quantile(ratio, [0.05, 0.5, 0.95])
    measured |= {
        "share": share,
        "low": ends[0],
        "high": ends[1],
        "interval_within": certain,
        "interval_outside": outside,
    }
    measured |= {"median_ratio": float(at[1]), "ratio_5": float(at[0]), "ratio_95": float(at[2])}
    within = f"{int(inside.sum())} of {count} heads within {100 * tolerance:.0f} %"
    apart = f" ({every - count} of {every} rest on few tokens and are left out)" if few.any() else ""
    return Finding(
        decide(*ends, least=least),
        f"{within}{apart}, share {share:.2f} [{ends[0]:.2f}, {ends[1]:.2f}]; required: {least:g} or more",
        measured,
        f"At n = {n:,} {within}; 95 % interval entirely within in {certain}, entirely outside in {outside}. "
        f"Predicted over measured: median {at[1]:.2f}, 5 to 95 % of heads {at[0]:.2f} to {at[2]:.2f}.{others}",
        f"yes: a share above {min(least + half, 1):.2f} holds; more than {int((1 - least) * count + 1e-9)} heads "
        "with an interval entirely outside fail it",
        p=max(chance(share, share - half, most, least=least), 1 / (len(drawn) + 1)),  # no finer than the draws
        number=within + apart,
    )
