"""Which tokens does a model make of a text?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import LABELS

# Words of the variables, by store.
STORES: dict[str, Words] = {
    "corpus/blocks": {
        "token_id": "number of the word piece in the vocabulary",
        "position": "position in the block",
        "block_of_token": "block that the token stands in",
        "page_id": "number of the article",
        "revision_id": "revision of the article",
    },
    "models/heads": LABELS
    | {
        "query_weight": "W_q",
        "key_weight": "W_k",
        "value_weight": "W_v",
        "query_bias": "b_q",
        "key_bias": "b_k",
        "value_bias": "b_v",
    },
}

ABOUT = About(
    title="text and model",
    question="Which tokens does a model make of a text?",
    stores=STORES,
)
