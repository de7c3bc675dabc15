"""What does the user of a model see when every layer attends to n drawn keys?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

ABOUT = About(
    title="what becomes of the model's answers",
    question="What does the user of a model see when every layer attends to n drawn keys?",
    chapter="whole_model",
    place=1,
    uses=("corpus/blocks", "models/heads"),
    figures={
        "downstream": "the whole model: a task with drawn keys",
    },
    stores=STORES,
)
