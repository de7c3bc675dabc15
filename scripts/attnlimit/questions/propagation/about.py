"""What becomes of the error of a layer in the layers after it?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="what becomes of an error in later layers",
    question="What becomes of the error of a layer in the layers after it?",
    chapter="whole_model",
    place=0,
    uses=("corpus/blocks", "models/heads"),
    figures={
        "propagation": "the whole model: errors after every layer",
    },
    stores=STORES,
)
