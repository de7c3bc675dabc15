"""Is the rate only logarithmic when a query reads nothing but its best key?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="hardmax",
    question="Is the rate only logarithmic when a query reads nothing but its best key?",
    chapter="theory",
    place=2,
    figures={
        "hardmax": "Gaussian: hardmax, error against n, by dimension",
    },
    stores=STORES,
)
