"""Does the rate of a head fall when its attention is made sharper?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

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
