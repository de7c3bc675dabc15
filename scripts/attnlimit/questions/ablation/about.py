"""Does the rate of a head fall when its attention is made sharper?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import ERRORS, FITS

# Words of the variables, by store.
CHANGED: Words = {
    "alpha": "factor on A",
    "tilt_factor": "factor on the constant tilt A m + b",
    "of_layer": "layer of the head that was changed",
    "of_head": "head that was changed",
}
STORES: dict[str, Words] = {"ablation/errors": ERRORS | CHANGED, "rates/ablation": FITS | CHANGED}

ABOUT = About(
    title="chosen heads with their attention scaled",
    question="Does the rate of a head fall when its attention is made sharper?",
    chapter="ablation",
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    errors={
        "ablation": "ablation/errors",
    },
    figures={
        "ablation": "heads: rate of chosen ones, A scaled",
        "constant_tilt": "ablation: what the horizon does not see",
    },
    stores=STORES,
)
