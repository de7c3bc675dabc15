"""What do the heads of a model make of all tokens of a text?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import COUPLINGS, LABELS

# Words of the variables, by store.
CENTRE: Words = {"centre": "point taken off all tokens before they are projected"}
LIMIT: Words = {
    "limit_mean": "mean of the transformed tokens in the limit",
    "limit_covariance": "covariance of the transformed tokens in the limit",
    "residual_share": "variance of the outputs that the surrogate leaves, over all of it",
}
OUTPUTS: Words = {
    "output_count": "queries that the moments are of",
    "output_mean": "mean of the outputs, less their shift",
    "output_scatter": "scatter of the outputs about their mean",
    "output_shift": "W_v centre + b_v, taken off the outputs",
}
STORES: dict[str, Words] = {
    "embeddings/shard_{shard}": LABELS
    | {
        "token": "number of the token in the population",
        "tokens": "input of the attention layer",
        "rounding_error": "error of storing the tokens, relative to their spread",
    },
    "geometry/layer_{layer}": LABELS
    | COUPLINGS
    | {"token_mean": "mean of the tokens", "token_covariance": "covariance of the tokens"},
    "limits/layer_{layer}": LABELS | CENTRE | LIMIT,
}
PARTS: dict[str, Words] = {
    "limits/parts/layer_{layer}_part_{part}": LABELS
    | CENTRE
    | OUTPUTS
    | {"fourth_moment": "sum of |y - mean|^4 over the outputs"},
    "limits/outputs/layer_{layer}_part_{part}": LABELS
    | CENTRE
    | {
        "query": "number of the token that was drawn as a query",
        "output": "exact output of a drawn query, less its shift",
        "fold": "fold of a query: it is judged by the fit to the others",
        "stratum": "stratum of a query: the marks of the blocks are drawn apart",
        "stratum_size": "tokens of the population in the stratum [tokens]",
    },
    "limits/surrogate/layer_{layer}": LABELS
    | CENTRE
    | OUTPUTS
    | LIMIT
    | {
        "coefficient": "coefficients of the surrogate, by the fit that left the fold out",
        "fold_share": "share of the drawn queries in the fold",
        "query_centre": "mean query, taken off before it is rotated",
        "rotation": "principal directions of the queries, over standard deviations",
        "few_keys": "keys of the few tokens that a feature attends to",
        "few_values": "values of the few tokens that a feature attends to",
        "few_output_centre": "mean attention to the few keys",
        "few_output_scale": "standard deviation of the attention to the few keys",
        "directions": "leading coordinates whose products are features",
        "reference": "point about which second moments are taken",
        "residual_mean": "mean of exact output less surrogate",
        "residual_second": "second moment of exact outputs less that of the surrogate, about the reference",
    },
    "limits/applied/layer_{layer}_part_{part}": LABELS | OUTPUTS | {"chunk": "chunk of the population"},
}

ABOUT = About(
    title="the population and its limit",
    question="What do the heads of a model make of all tokens of a text?",
    uses=("corpus/blocks", "models/heads"),
    stores=STORES,
    parts=PARTS,
)
