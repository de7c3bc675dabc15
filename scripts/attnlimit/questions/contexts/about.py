"""How many independent tokens is a run of neighbouring ones worth?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import ERRORS, FITS

# Words of the variables, by store.
RUNS: Words = {
    "run": "how the tokens of a sample neighbour each other: length of a run of consecutive ones, or document",
    "run_length": "consecutive tokens of a run [tokens]",
    "repeated_share": "share of the tokens in blocks shorter than the run, which it repeats",
}
STORES: dict[str, Words] = {
    "contexts/errors": ERRORS | RUNS,
    "rates/contexts": FITS
    | RUNS
    | {
        "share": "effective share of a token among neighbours: mean squared error of independent tokens over theirs",
        "share_slope": "power of n that the effective share goes with",
        "size_share": "effective share of a token at each n",
        "median_share": "effective share of a token, median over the heads of the layer",
        "overall_share": "effective share of a token, median over the heads of all layers measured",
    },
}
PARTS: dict[str, Words] = {"contexts/parts/layer_{layer}": ERRORS | RUNS}

ABOUT = About(
    title="tokens that are neighbours",
    question="How many independent tokens is a run of neighbouring ones worth?",
    chapter="contexts",
    place=0,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={
        "contexts": "contexts: what a token among neighbours is worth",
    },
    stores=STORES,
    parts=PARTS,
)
