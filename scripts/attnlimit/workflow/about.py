"""What runs, from which seed, on which device?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="the run itself",
    question="What runs, from which seed, on which device?",
    stores=STORES,
)
