"""Which tokens does a model make of a text?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="text and model",
    question="Which tokens does a model make of a text?",
    stores=STORES,
)
