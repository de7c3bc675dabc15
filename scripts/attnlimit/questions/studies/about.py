"""Which properties depend on the model or the text, and which do all share?"""

from pydantic import Field

from attnlimit.base.about import About, Section, Words
from attnlimit.base.section_types import Folders, OfRuns, Positive
from attnlimit.base.words import FITS


class CompareStudies(OfRuns):
    """Finished runs of several models and texts, compared head by head; only with chapter `studies`."""

    studies: Folders = Field(
        description="By name, the folder of a finished run with chapters `heads` and `tails`; a relative one counts "
        "from the project's folder."
    )
    sub_gaussian_factor: float = Field(
        ge=1,
        description="Variance proxy of the tokens along a head's directions, in units of their covariance, up to which "
        "they count as sub-Gaussian; 1 for a Gaussian.",
    )
    wanted_reach: float = Field(
        gt=0,
        description="Half-width, on Fisher's scale, of the interval that a rank correlation over models would need: it "
        "sets the number of models on the page.",
    )


class Thresholds(Section):
    """Of the claims about several runs."""

    agreement: Positive = Field(
        lt=1, description="Rank correlation of heads between two texts from which on they agree in order."
    )
    sub_gaussian_share: Positive = Field(
        lt=1,
        description="Share of the heads of a study that must see sub-Gaussian tokens "
        "(`compare_studies.sub_gaussian_factor`).",
    )
    shared_share: Positive = Field(
        lt=1,
        description="Share of its heads that a layer is worth at most, as independent ones, if its heads share errors.",
    )


# Words of the variables, by store.
HEADS: Words = FITS | {
    "participation_ratio": "effective rank of the tokens' covariance, (tr S)^2 / tr S^2",
    "direction": "leading direction, by falling variance",
    "kurtosis": "excess kurtosis of the tokens along the direction",
    "sub_gaussian": "variance proxy of the tokens along a head's directions, in units of the covariance",
    "variant": "what is changed in a head: its horizon H, or its constant tilt",
    "beta_change": "change of beta against the same head as it is, on the same samples",
}
# Each with two intervals: _low, _high of these heads; _layers_low, _layers_high of layers like these.
ASKED: Words = {
    "agreement": "rank correlation over heads between texts, mean over pairs, corrected for sampling noise",
    "variance_share": "share of the variance that belongs to the component; below 0: not seen",
    "head_margin": "share of the variance of heads, less those of texts and of heads in a text",
    "order": "rank correlation of the quantity with the coupling over heads, corrected for noise, mean over texts",
    "sub_gaussian_share": "share of heads that see tokens with a variance proxy of at most sub_gaussian_factor",
    "effective_heads": "independent heads that a layer is worth: mean of Var(u) over Var of mean u, u = e^2 / E e^2",
}
STORES: dict[str, Words] = {
    "studies/{study}": HEADS,
    "rates/studies": HEADS
    | ASKED
    | {f"{name}_layers": f"{words}, for layers like these" for name, words in ASKED.items()}
    | {
        "study": "name of the study: one model on one text",
        "model": "name of the model",
        "model_of_study": "model of the study",
        "text_of_study": "text of the study",
        "heads": "heads of a layer of the study",
        "quantity": "what is compared: error_mean, error_cov (ln of the relative error at the largest n), tokens_mean, "
        "tokens_cov (ln n(5 %)), horizon (ln H)",
        "heads_compared": "heads of the model that are compared: their quantity is known on all texts",
        "reliability": "share of the variance of ranks that is not sampling, from halves of the replicates",
        "component": "part of the variance: head, text, head_text (heads that differ between texts), sampling",
        "coupling": "what may order the heads: H, or the constant tilt s0",
        "models_needed": "models that a claim over models would need, for an interval of half-width wanted_reach",
        "sub_gaussian_factor": "variance proxy up to which tokens count as sub-Gaussian, in units of the covariance",
        "heads_changed": "heads whose beta surely fell, surely rose, or neither, as the variant changed them",
        "direction_of_change": "whether beta fell, rose, or neither is sure",
        "layer_heads": "independent heads that the layer is worth, see effective_heads",
    },
}

ABOUT = About(
    title="several finished runs, of other models and texts, compared",
    question="Which properties depend on the model or the text, and which do all share?",
    chapter="studies",
    exclusive=True,  # it reads finished runs, the others a model and a text
    figures={
        "studies_horizon": "studies: rate against horizon",
        "studies_heads": "studies: the error of each head over texts",
        "studies_shared_noise": "studies: what the heads of a layer share",
    },
    tables={"studies": "every head of every study"},
    sections={"compare_studies": CompareStudies},
    thresholds=Thresholds,
    stores=STORES,
)
