"""Is the error at one query normal, with a variance that the tokens themselves tell?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import LABELS

# Words of the variables, by store.
QUERIES: Words = {
    "coordinate": "coordinate of the output, along the tilt or across it",
    "tilt": "length of the tilt, in standard deviations of the tokens",
}
STORES: dict[str, Words] = {
    "synthetic/normality": LABELS
    | QUERIES
    | {
        "deviation": "sqrt(n) times the error at the query",
        "plug_in": "estimate of the deviation's covariance from the tokens themselves",
        "effective": "effective sample size 1 / sum of squared weights, at the query [tokens]",
        "mass": "mean of exp<t, X> over its expectation",
    },
    "rates/normality": LABELS
    | QUERIES
    | {
        "clt_covariance": "limit of n times the covariance of the error",
        "clt_bias": "limit of n times the bias",
        "covariance": "covariance of the deviation over replicates",
        "variance_ratio": "variance over replicates, over its limit",
        "plug_in_ratio": "mean of the plug-in variance, over its limit",
        "n_bias": "n times the bias",
        "coverage": "share of replicates whose 95 % interval holds the limit",
        "effective_mean": "mean effective sample size [tokens]",
        "carriers": "tokens that carry the variance, effective^2 / n [tokens]",
        "probability": "number of the quantile",
        "error_quantile": "quantile of the deviation, over its limiting standard deviation",
        "normal_quantile": "quantile of the normal law",
        "distance": "largest difference of the deviation's distribution function from the normal's",
    },
}

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
