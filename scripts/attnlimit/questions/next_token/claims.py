"""Claims on the next token: do windows serve it better than kept and sampled keys, as many in all?"""

import numpy as np

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import (
    NOT_HERE,
    UNDECIDED,
    Part,
    chance,
    could_fail,
    decide,
    every_p,
    every_part,
    measured_of,
    spoken,
)

TEST = (
    "Divergence from the dense model with first and last keys kept and the others sampled, over that with {} of the "
    "same budget, at each n; interval over windows of text, left out one at a time, with Student's law."
)


def judge(fits: Fits, rival: str, about: str) -> Finding:
    """Holds at an n: the interval of the ratio lies above 1.  Fails: below.  All sizes must hold; one fails it."""
    data = fits.stores["next_token"]
    windows, parts = data.attrs["windows"], dict[str, Part]()
    for n in data["n"].values.tolist():
        ratio, low, high = Estimate.of(data, "divergence_ratio", n=n, rival=rival)
        name = f"n = {n:,}"
        if not np.isfinite([ratio, low, high]).all():
            parts[name] = Part(UNDECIDED, {}, "no interval", "only divergences above zero could decide", NOT_HERE)
            continue
        measured = {"ratio": ratio, "low": low, "high": high}
        power = f"a ratio below {ratio / high:.2f} fails it, one above {ratio / low:.2f} holds"
        p = chance(*np.log([ratio, low, high, 1.0]), freedom=windows - 1)
        words = f"{ratio:.2f} [{low:.2f}, {high:.2f}]"
        parts[name] = Part(decide(low, high, 1.0), measured, words, power, p=p)
    return Finding(
        every_part(parts),
        f"KL divergence of `sink_recent` over that of the window: {spoken(parts)}; required: above 1",
        {"windows": windows} | measured_of(parts),
        f"Every layer reads some keys; the same {windows} windows of text for both, which are few: intervals and "
        f"probabilities are Student's. {about} Sampling is a measuring rod here, not a method of compression.",
        could_fail(parts),
        p=every_p(parts),
        number=f"KL, sample over window: {'; '.join(f'{part.words} at {n}' for n, part in parts.items())}",
    )


@claim(
    id="next_token_window",
    headline="A window beats as many keys of which some are sampled",
    experiment="next token of {model}, plain window",
    ours=True,
    statement="A plain window of the last keys keeps the law of the next token better than as many keys in protocol "
    "`sink_recent`: first and last keys kept, the others sampled.",
    test=TEST.format("a window of the last keys"),
    fits=("next_token",),
    figure="next_token",
    thresholds=(),
)
def next_token_window(fits: Fits, thresholds: dict) -> Finding:
    return judge(fits, "window", "The plain window also drops the first key, which the sample keeps.")


@claim(
    id="next_token_sink_window",
    headline="A window beats as many keys of which some are sampled",
    experiment="the same, the first key kept",
    ours=True,
    statement="The first key and a window of the last keys keep the law of the next token better than as many keys in "
    "protocol `sink_recent`.",
    test=TEST.format("the first key and a window of the last"),
    fits=("next_token",),
    figure="next_token",
    thresholds=(),
)
def next_token_sink_window(fits: Fits, thresholds: dict) -> Finding:
    return judge(fits, "sink_window", "Both keep the first key and the last ones; they differ in the keys between.")
