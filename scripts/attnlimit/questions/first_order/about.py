"""Can the error of a head be predicted from the influence of single tokens, without a fit?"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.costs import START_BYTES, token_bytes
from attnlimit.base.section_types import InDtype, refuse
from attnlimit.base.words import FITS, LABELS

Several = Annotated[int, Field(ge=8, le=2**31)]
Even = Annotated[int, Field(ge=8, le=2**31, multiple_of=2)]
Share = Annotated[float, Field(gt=0, lt=1)]
INFLUENCE_FLOPS = 37e9  # a second, of one core: measure_first_order of a million tokens


class MeasureFirstOrder(InDtype):
    """The influence of a token on the outputs of all others, from the limit's own outputs."""

    keys: Several = Field(description="Tokens drawn, whose influence on the mean is computed from all queries.")
    covariance_keys: Several = Field(
        description="The first of them, whose influence on the covariance is computed too: about ten times the cost "
        "of one for the mean; at most `keys`."
    )
    scouts: Even = Field(description="Queries drawn that look at all keys: for κ, the bias, and which keys matter.")
    square: Several = Field(
        description="Tokens drawn for the variance of the second order, each attending to the others."
    )
    draws: Several = Field(description="Gaussian draws for the same.")

    @model_validator(mode="after")
    def some_of_the_keys(self) -> Self:
        if self.covariance_keys > self.keys:
            refuse("covariance_keys", f"{self.covariance_keys} is more than keys {self.keys}; lower it")
        return self


class FitFirstOrder(Section):
    """Predicted beside measured errors."""

    expansion: Share = Field(
        description="Largest κ/n for which first order is used; above it, the error depends on few tokens and is not "
        "predicted."
    )


class Thresholds(Section):
    """Thresholds of its claim."""

    first_order_tolerance: Share = Field(
        description="How far from the measured error first order may be, relative to it, and count as right."
    )
    first_order_share: Share = Field(description="Share of the heads that first order must get right.")


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Pairs of a token and a query cost 4 D: of each drawn key once, of each scout four times.

    Of a key of the covariance the products of outputs besides, D (w + 1), w the width of a head; of the square 2 D for
    each draw. The outputs of the limit pass are held as they are.
    """
    section, layers, features = config["measure_first_order"], len(config["layers"]), model.features
    queries = config["compute_limits"]["queries"] or config["tokenize_corpus"]["population"]
    population, width = config["tokenize_corpus"]["population"], features // model.heads
    pairs = 4.0 * features * (section["keys"] * queries + 4 * section["scouts"] * population)
    pairs += features * (width + 3.0) * section["covariance_keys"] * queries
    pairs += 2.0 * features * (section["draws"] + 2) * section["square"] ** 2
    entries = section["covariance_keys"] * features * (width + 1.0) * 8
    held = 4.0 * queries * features + 40.0 * config["compute_limits"]["block"] * features + 3 * entries
    held += 24.0 * section["keys"] * features * 8 + 16.0 * section["square"] ** 2
    return {
        "measure_first_order": Cost(
            layers,
            layers * pairs / INFLUENCE_FLOPS,
            bytes=START_BYTES + held + token_bytes(config),
            on_gpu=True,
        ),
        "fit_first_order": Cost(job_seconds=5.0),
    }


# Words of the variables, by store.
CONSTANTS: Words = LABELS | {
    "constant": "E|psi|^2: n times the mean squared error, as n grows, of the moment",
    "bias_squared": "||B||^2, B the bias of the covariance times n, from two halves; below 0 only by noise",
    "second_variance": "V2: variance of the covariance's second order times n^2",
    "kappa": "kappa = E_x E_z w^2, the expansion parameter: first order holds for n well above it [tokens]",
    "kappa_quantile": "95 % quantile over queries of E_z w^2 [tokens]",
}
STORES: dict[str, Words] = {
    "first_order/layer_{layer}": CONSTANTS,
    "rates/first_order": CONSTANTS
    | {
        "predicted": "root mean square error that is predicted, nothing fitted",
        "measured": "root mean square error over replicates",
        "ratio": "predicted over measured root mean square error",
        "ratio_resampled": "ratio at the largest n, replicates resampled and the constant varied by its standard error",
        "slope": "rate of the root mean square error over the sizes: minus the plain slope of its log on log n",
        "predicted_slope": "the same slope of the predicted errors",
        "predicted_local_slope": "rate of the predicted errors between neighbouring sizes",
        **{name: FITS[name] for name in ("limit_scale", "eps")},
        "tokens_predicted": "predicted n(eps): tokens at which the root mean square error is eps of its scale [tokens]",
        "usable_from": "n from which first order is used: kappa / n small enough [tokens]",
        "few_tokens": "whether the head rests on few tokens: usable_from lies above the largest n",
    },
}

ABOUT = About(
    title="their errors without a fit",
    question="Can the error of a head be predicted from the influence of single tokens, without a fit?",
    chapter="heads",
    place=1,
    uses=("corpus/blocks", "models/heads", "limits/layer_{layer}"),
    figures={"first_order": "heads: error predicted from single tokens, nothing fitted"},
    sections={"measure_first_order": MeasureFirstOrder, "fit_first_order": FitFirstOrder},
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
)
