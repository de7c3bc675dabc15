"""Is the error at one query normal, with a variance that the tokens themselves tell?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="normality at one query",
    question="Is the error at one query normal, with a variance that the tokens themselves tell?",
    chapter="theory",
    place=4,
    figures={
        "normality": "Gaussian: normality at one query",
    },
    stores=STORES,
)
