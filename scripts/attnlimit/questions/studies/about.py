"""What is a model's own, and what is common to models and texts?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="several finished runs, of other models and texts, compared",
    question="What is a model's own, and what is common to models and texts?",
    chapter="studies",
    exclusive=True,  # it reads finished runs, the others a model and a text
    figures={
        "studies_horizon": "studies: rate against horizon",
        "studies_heads": "studies: the heads over texts",
        "studies_shared_noise": "studies: what the heads of a layer share",
    },
    tables={
        "studies": "every head of every study",
    },
    stores=STORES,
)
