"""What does a query lose that reads only n keys of its block, chosen by a pattern?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import LABELS, LINE, POINTWISE

# Words of the variables, by store.
PATTERN: Words = {"pattern": "pattern that chooses the keys a query reads"}
STORES: dict[str, Words] = {
    "patterns/layer_{layer}": LABELS
    | POINTWISE
    | PATTERN
    | {
        "error": "distance of sparse attention to dense attention of the same block, each replicate",
        "limit_scale": "scale of the error: sqrt(tr V Sigma V^T) over the block; of cov, norm of dense attention's",
        "length": "tokens of the block [tokens]",
        "moment": "moment of the outputs: mean (Euclidean norm), cov (Frobenius)",
        "published_window_error": "distance of the moments of the published window experiment, one window at the "
        "middle of the block and 50 random tokens as queries and keys, to those of dense attention, each replicate",
        "term": "term of the expected square of the error with independent keys; second_size: its parts without signs",
        "expected_square": "n E|error|^2 at a query = first + second / n + …, mean over queries, keys drawn "
        "independently",
    },
    "rates/patterns": LABELS
    | POINTWISE
    | PATTERN
    | LINE
    | {
        "value": "relative error, mean over blocks",
        "bend": "slope of log error over the upper half of the budgets less that over the lower, as rates",
        "eps": "wanted error, relative to its scale",
        "budget": "keys from which on the error is at most eps of its scale; infinite: not within the block [tokens]",
        "median_budget": "keys from which on the error is at most eps of its scale, median over heads [tokens]",
        "median_value": "relative error, median over heads",
        "beats_top": "share of blocks in which the error is smaller than that of the largest scores",
        "theory_value": "relative error of independent keys in theory, sqrt(first / n)",
        "theory_from": "budget from which on theory predicts a rate of 1/2 [tokens]",
        "late_beta": "rate from theory_from on",
        "moment": "moment of the outputs: mean (Euclidean norm), cov (Frobenius)",
        "published_window_value": "relative error of the moments of the published window experiment, mean over blocks",
        "published_window_beta": "rate of the error of the moments of the published window experiment",
    },
}

ABOUT = About(
    title="attention to some of the tokens",
    question="What does a query lose that reads only n keys of its block, chosen by a pattern?",
    chapter="contexts",
    place=2,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={
        "patterns": "contexts: what sparse attention loses",
    },
    tables={
        "patterns": "budgets of sparse attention, a row for each layer and pattern",
    },
    stores=STORES,
)
