"""What does convergence to the limit look like?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="clouds of outputs",
    question="What does convergence to the limit look like?",
    chapter="contexts",
    place=1,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={
        "clouds": "contexts: what convergence looks like",
    },
    stores=STORES,
)
