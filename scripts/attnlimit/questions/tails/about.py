"""Are the tokens of a model sub-Gaussian, as the paper assumes?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="how heavy the tails of the tokens are",
    question="Are the tokens of a model sub-Gaussian, as the paper assumes?",
    chapter="tails",
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={
        "tails": "tokens: spectrum and tails, per layer and head",
    },
    stores=STORES,
)
