"""What does convergence to the limit look like?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import COUPLINGS

# Words of the variables, by store.
STORES: dict[str, Words] = {
    "clouds/outputs": COUPLINGS
    | {
        "cloud": "tokens that a query attends to: n of a sample, or all, the limit",
        "of_layer": "layer of the head",
        "of_head": "head whose outputs they are",
        "plane": "outputs along the two leading directions of those in the limit, their mean at 0",
        "tsne": "outputs in a t-SNE map that all clouds of a head share",
    },
}

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
