"""What do the heads of a model make of all tokens of a text?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="the population and its limit",
    question="What do the heads of a model make of all tokens of a text?",
    uses=("corpus/blocks", "models/heads"),
    stores=STORES,
)
