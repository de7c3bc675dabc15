"""The claim on what the user of a model sees when every layer attends to drawn keys: ours, after the paper's code."""

import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import UNDECIDED, chance, decide, every, joint_chance, within

TOO_FEW = "too few texts for an interval"
FEW = "not here: only more texts could decide"
EXACT = "Keys are drawn with replacement, so that the dense model is the exact limit."
SUBSET = (
    "Keys are drawn without replacement, as published: at the length of a text the error vanishes, which steepens β."
)


@claim(
    id="downstream_rate",
    headline="Random keys in every layer: the text's embedding errs like 1/√n",
    experiment="{model}",
    ours=True,
    statement="Keys drawn in every layer of {model}: the error of a text's embedding falls like 1/√n (after an "
    "experiment in the paper's public code).",
    test="Mean over texts of minus the slope of log error on log n; its change from the lower to the upper half of n.",
    fits=("downstream",),
    figure="downstream",
    thresholds=("slope_tolerance", "fewest_groups"),
)
def downstream_rate(fits: Fits, thresholds: dict) -> Finding:
    """A power of n, with which rate?  Two parts, both of the mean over texts, with intervals over groups of them.

    The rate within the tolerance of 1/2; the bend, which is the rate over the upper half of the sizes less that over
    the lower, within twice the tolerance of 0: as far as two rates within the tolerance can lie apart.
    """
    data, tolerance = fits.stores["downstream"], thresholds["slope_tolerance"]
    measured: dict = counted(data) | {"n_from": int(data["n"][0]), "n_to": int(data["n"][-1])}
    verdict, words, power, beside, p = UNDECIDED, TOO_FEW, FEW, "", 1.0
    if data.attrs["groups"] >= thresholds["fewest_groups"]:
        (beta, low, high), bends = Estimate.of(data, "beta"), Estimate.of(data, "bend")
        measured |= {"beta": beta, "low": low, "high": high}
        measured |= {"bend": bends.value, "bend_low": bends.low, "bend_high": bends.high}
        listed = ("embedding_error", "local_slope", "logit_error", "divergence")
        measured |= {name: data[name].values.tolist() for name in listed}
        between = ", ".join(f"{slope:.2f}" for slope in measured["local_slope"])
        first, far = measured["embedding_error"][0], float(data["unrelated_distance"])
        beside = (
            f" Between neighbouring n the rate is {between}; at the smallest the error is {first:.2f}, two unrelated"
        )
        beside += f" texts are {far:.2f} apart. {of_logits(data)}"
        edges, around = (0.5 - tolerance, 0.5 + tolerance), (-2 * tolerance, 2 * tolerance)
        verdicts = [decide(low, high, *edges), decide(*bends[1:], *around)]
        freedom = data.attrs["groups"] - 1
        probabilities = [
            chance(beta, low, high, *edges, freedom=freedom),
            chance(*bends, *around, freedom=freedom),
        ]
        verdict, p = every(verdicts), joint_chance(verdicts, probabilities)
        words = f"β {beta:.3f} [{low:.3f}, {high:.3f}], bend {within(*bends)}"
        reach, bend_reach = (high - low) / 2, (bends.high - bends.low) / 2
        power = (
            f"yes: a rate off 1/2 by {tolerance + reach:.2f}, or a bend of {2 * tolerance + bend_reach:.2f}, fails it"
        )
    return Finding(
        verdict,
        f"n from {measured['n_from']:,} to {measured['n_to']:,}: {words}; allowed {0.5 - tolerance:g} to "
        f"{0.5 + tolerance:g}, bend within ±{2 * tolerance:g}",
        measured,
        f"{of_groups(data)}, n from {measured['n_from']:,} to {measured['n_to']:,}: {words}.{beside} "
        f"{EXACT if data.attrs['replacement'] else SUBSET}",
        power,
        p=p,
        number=words.partition(", bend")[0],
    )


def of_logits(data: xr.Dataset) -> str:
    """How far the logits of the task are from the dense ones."""
    of_task = "; logits of retrieval are 20 × cosine, a convention" if data.attrs["task"] == "retrieval" else ""
    (error, late_error), (kl, late_kl) = (data[name].values[[0, -1]] for name in ("logit_error", "divergence"))
    return (
        f"Logits are off by {error:.2g} at the smallest n and by {late_error:.2g} at the largest, their softmax "
        f"by a divergence (KL) of {kl:.2g} and {late_kl:.2g}{of_task}."
    )


def counted(data: xr.Dataset) -> dict:
    return {"texts": data.sizes["text"], "groups": data.attrs["groups"], "draws": data.attrs["replicates"]}


def of_groups(data: xr.Dataset) -> str:
    """64 blocks of 32 articles, or 64 texts."""
    articles = f"{data.sizes['text']} blocks of {data.attrs['groups']} articles"
    return articles if data.attrs["task"] == "retrieval" else f"{data.sizes['text']} texts"
