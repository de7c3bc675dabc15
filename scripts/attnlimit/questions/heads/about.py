"""How fast does each attention head of a model converge to its limit as it reads more tokens?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import ERRORS, FITS

# Words of the variables, by store.
STORES: dict[str, Words] = {"errors/layer_{layer}": ERRORS, "rates/heads": FITS}
PARTS: dict[str, Words] = {"errors/parts/layer_{layer}_part_{part}": ERRORS}

ABOUT = About(
    title="the rates of the model's heads",
    question="How fast does each attention head of a model converge to its limit as it reads more tokens?",
    chapter="heads",
    place=0,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}", "limits/layer_{layer}"),
    errors={
        "heads": "errors/layer_{layer}",
    },
    figures={
        "beta_vs_horizon": "heads: rate against horizon, per head",
        "token_complexity": "heads: tokens needed for 10, 5 and 1 %",
        "convergence": "heads: error against n, per layer",
        "heat_map": "heads: rate and horizon, layer by head",
        "local_slopes": "heads: slopes between sizes, per layer",
        "bias_fluctuation": "heads: bias and fluctuation, chosen heads",
    },
    stores=STORES,
    parts=PARTS,
)
