"""How do rate and constant depend on the size of a bounded support?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="tokens on a sphere",
    question="How do rate and constant depend on the size of a bounded support?",
    chapter="theory",
    place=1,
    errors={
        "sphere": "synthetic/sphere",
    },
    figures={
        "sphere_beta_vs_horizon": "sphere: rate against horizon",
    },
    stores=STORES,
)
