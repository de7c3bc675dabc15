"""What becomes of the error of a layer in the layers after it?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import LABELS, LINE, POINTWISE

# Words of the variables, by store.
DRAWN: Words = {
    "drawn_layer": "layer whose keys were drawn, all others dense",
    "single_n": "sample size at which layers were drawn alone [tokens]",
}
STATES: Words = (
    LABELS
    | POINTWISE
    | DRAWN
    | {
        "error": "distance of the states after the layer to the dense ones, keys drawn in all layers, each replicate",
        "single_error": "error after the layer with the keys of one layer drawn, each replicate",
        "limit_scale": "scale of the error: spread of the dense states; of cov, norm of their covariance",
    }
)
STORES: dict[str, Words] = {
    "propagation/errors": STATES,
    "rates/propagation": LABELS
    | POINTWISE
    | DRAWN
    | LINE
    | {
        "rms": "root mean square of the error over blocks and replicates, relative to limit_scale",
        "single_rms": "root mean square of the error, relative to limit_scale, with the keys of one layer drawn",
        "gain": "error after the layer over the error after the drawn layer, root mean squares",
        "quadrature": "root of the sum of squared errors of single layers, over the error with all layers drawn",
        "quadrature_in_step": "what quadrature would be if all errors pointed the same way",
    },
}
PARTS: dict[str, Words] = {"propagation/parts/part_{part}": STATES}

ABOUT = About(
    title="what becomes of an error in later layers",
    question="What becomes of the error of a layer in the layers after it?",
    chapter="whole_model",
    place=0,
    uses=("corpus/blocks", "models/heads"),
    figures={
        "propagation": "the whole model: errors after every layer",
    },
    stores=STORES,
    parts=PARTS,
)
