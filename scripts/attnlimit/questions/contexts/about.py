"""How many independent tokens is a run of neighbouring ones worth?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

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
)
