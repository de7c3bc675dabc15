"""What does a query lose that reads only n keys of its block, chosen by a pattern?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="attention to some of the tokens",
    question="What does a query lose that reads only n keys of its block, chosen by a pattern?",
    chapter="contexts",
    place=2,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={
        "patterns": "contexts: what sparse attention loses",
    },
    tables={
        "patterns": "budgets of sparse attention, a row for each layer and pattern",
    },
    stores=STORES,
)
