"""Are the tokens of a model sub-Gaussian, as the paper assumes?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import LABELS

# Words of the variables, by store.
STORES: dict[str, Words] = {
    "tails/layer_{layer}": LABELS
    | {
        "direction": "leading direction, by falling variance",
        "scale": "scale s of the exponent",
        "eigenvalues": "eigenvalues of the tokens' covariance, falling",
        "participation_ratio": "effective rank of the tokens' covariance, (tr S)^2 / tr S^2",
        "variance": "variance of the tokens along the direction; of a head's first direction, H^2",
        "kurtosis": "excess kurtosis of the tokens along the direction",
        "log_mgf_ratio": "log E exp(s u) over s^2 / 2, which is 1 for a Gaussian",
        "effective_tokens": "tokens that carry the mean of exp(s u) [tokens]",
        "sub_gaussian": "largest log_mgf_ratio that enough tokens carry: variance proxy in units of the covariance",
    },
}

ABOUT = About(
    title="how heavy the tails of the tokens are",
    question="Are the tokens of a model sub-Gaussian, as the paper assumes?",
    chapter="tails",
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={
        "tails": "tokens: spectrum and tails, per layer and head",
    },
    stores=STORES,
)
