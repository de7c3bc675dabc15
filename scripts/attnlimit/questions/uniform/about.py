"""Does the attention map converge like C(R)/√n uniformly over queries in a ball?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="uniform convergence on a ball",
    question="Does the attention map converge like C(R)/√n uniformly over queries in a ball?",
    chapter="theory",
    place=3,
    figures={
        "uniform": "Simulated: largest error over a ball",
    },
    stores=STORES,
)
