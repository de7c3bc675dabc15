"""What is a model's own, and what is common to models and texts?"""

from typing import Annotated

from pydantic import Field

from attnlimit.base.about import About, Section, Words
from attnlimit.base.section_types import Positive
from attnlimit.base.words import FITS

Name = Annotated[str, Field(pattern="^[A-Za-z0-9-]+$", max_length=50)]


class CompareStudies(Section):
    """Finished runs of several models and texts, compared head by head; only with chapter `studies`."""

    studies: dict[Name, Annotated[str, Field(min_length=1)]] = Field(
        description="By name, the folder of a finished run with chapters `heads` and `tails`; a relative one counts "
        "from the project's folder."
    )
    missing: dict[str, str] = Field(
        description="By name, why a study that was asked for is not there: the page says so."
    )
    sub_gaussian_factor: float = Field(
        ge=1,
        description="Variance proxy of the tokens along a head's directions, in units of their covariance, up to which "
        "they count as sub-Gaussian; 1 for a Gaussian.",
    )
    weakest_horizon: float = Field(
        ge=0, description="Correlations leave out smaller H, where the paper's curve is 1/2 to within 1 %."
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


# Words of the variables, by store.
HEADS: Words = FITS | {
    "participation_ratio": "effective rank of the tokens' covariance, (tr S)^2 / tr S^2",
    "direction": "leading direction, by falling variance",
    "kurtosis": "excess kurtosis of the tokens along the direction",
    "sub_gaussian": "variance proxy of the tokens along a head's directions, in units of the covariance",
    "head_2": "attention head of the layer, from 0: the other of two",
    "beta_covariance": "sampling covariance of beta of the heads of a layer, by leaving out replicates",
    "beta_half": "rate from one half of the replicates",
    "split": "number of the cut of the replicates into halves",
    "half": "half of the replicates",
}
STORES: dict[str, Words] = {
    "studies/{study}": HEADS,
    "rates/studies": HEADS
    | {
        "study": "name of the study: one model on one text",
        "model": "name of the model",
        "model_of_study": "model of the study",
        "text_of_study": "text of the study",
        "layers": "layers of the study",
        "heads": "heads of a layer of the study",
        "pair": "number of the pair of texts of a model",
        "first": "study of the first text of the pair",
        "second": "study of the second text of the pair",
        "model_of_pair": "model of the pair",
        "agreement": "rank correlation of beta over heads between the two texts",
        "agreement_overall": "rank correlation of beta over heads between texts, mean over pairs",
        "agreement_corrected": "agreement_overall, corrected for sampling noise",
        "reliability": "share of the variance of ranks of beta that is not sampling, by halves of the replicates",
        "shift": "mean difference of beta between the two texts, second less first",
        "shift_all": "mean difference of beta between the two texts, for all pairs at once",
        "horizon_agreement": "rank correlation of H over heads between the two texts",
        "horizon_agreement_overall": "rank correlation of H over heads between texts, mean over pairs",
        "horizon_shift": "mean difference of ln H between the two texts, second less first",
        "horizon_shift_all": "mean difference of ln H between the two texts, for all pairs at once",
        "component": "part of the variance of beta: head, text, head_text (heads that differ between texts), sampling",
        "variance_component": "variance of beta that belongs to the component",
        "variance_share": "share of the variance of beta that belongs to the component; below 0: not seen",
        "head_margin": "share of the variance of beta of heads, less those of texts and of heads in a text",
        "heads_compared": "heads with a rate in all texts of the model",
        "layers_compared": "layers of the heads with a rate in all texts of the model",
        "coupling": "what orders beta: H, the constant tilt s0, or one with the other held fixed",
        "order": "rank correlation of beta with the coupling over the heads of the study",
        "order_of_model": "rank correlation of beta with the coupling, mean over the texts of the model on Fisher's "
        "scale",
        "order_over_models": "rank correlation of beta with the coupling over models, random effects on Fisher's scale",
        "order_between_models": "standard deviation of the correlation between models, on Fisher's scale",
        "fisher_se": "standard error of order_of_model on Fisher's scale",
        "sub_gaussian_share": "share of heads that see tokens with a variance proxy of at most sub_gaussian_factor",
        "sub_gaussian_factor": "variance proxy up to which tokens count as sub-Gaussian, in units of the covariance",
        "effective_heads": "independent heads that a layer is worth: mean of Var(u) over Var of mean u, u = e^2 / "
        "E e^2",
        "effective_heads_overall": "independent heads that a layer is worth, all layers of the study together",
        "noise_correlation": "correlation of squared errors over replicates, mean over pairs of heads of the layer",
        "own_share": "share of the layer's mean squared error that lies in its heads' own blocks",
    },
}

ABOUT = About(
    title="several finished runs, of other models and texts, compared",
    question="What is a model's own, and what is common to models and texts?",
    chapter="studies",
    exclusive=True,  # it reads finished runs, the others a model and a text
    figures={
        "studies_horizon": "studies: rate against horizon",
        "studies_heads": "studies: the heads over texts",
        "studies_shared_noise": "studies: what the heads of a layer share",
    },
    tables={"studies": "every head of every study"},
    sections={"compare_studies": CompareStudies},
    thresholds=Thresholds,
    stores=STORES,
)
