"""What the paper claims, in the order of its pages: the words of each claim, by its id."""

FALLS, ABOVE = "β falls as H grows.", "β is at or above 1/(2(1+H²))."
GAUSSIAN = "Gaussian experiment, errors to the exact limit"
PUBLISHED = "The published protocol on Gaussian tokens, errors to a finite reference"
STATEMENTS = {
    "uniform_rate": "The attention map converges uniformly on a ball of radius R like C(R)/√n (abstract).",
    "uniform_growth": "Tokens of compact support: C(R) grows at most exponentially with R (abstract, an upper bound).",
    "moment_rate": "Moments of the transformed tokens converge like n⁻ᵝ with β below 1/2 (abstract).",
    "horizon_dependence": "The exponent β depends on the attention's geometry and the tokens' covariance: it falls "
    "as H grows.",
    "bound_theorem": "The rate is at least 1/(2(1+32Ψ)) (theorem, v1).",
    "bound_curve": "The rate is at least 1/(2(1+H²)) (the curve of v3).",
    "constants": "The constant C′(R) of the moments is polynomial in the size of the support, not exponential "
    "(abstract).",
    "hardmax_constant": "Hardmax on normal tokens, d = 1: E|meanₙ| = ln(4) σ / (2√(2 ln n)) · (1 + o(1)) "
    "(Proposition 5.1).",
    "hardmax_logarithm": "In the hardmax regime the rate is logarithmic (abstract): E|meanₙ| falls like 1/√(ln n), "
    "d = 1.",
    "gaussian_exact_falls": f"{GAUSSIAN}: {FALLS}",
    "gaussian_exact_above": f"{GAUSSIAN}: {ABOVE}",
    "gaussian_published_falls": f"{PUBLISHED}: {FALLS}",
    "gaussian_published_above": f"{PUBLISHED}: β is at or above 1/(2(1+H²)), or what such a reference alone leaves "
    "of 1/2.",
    "heads_falls": "BERT experiment: H orders the heads of {model}, β falls as H grows.",
    "heads_above": "BERT experiment, heads of {model}: β is at or above 1/(2(1+H²)).",
    "tilt_order": "Heads of {model}: H or the constant tilt s₀ orders the rates, β falls as one grows and the other "
    "is held fixed (our question, not the paper's).",
    "ablation_falls": "Heads of {model} with A scaled and all else kept: β falls as H grows.",
    "contexts_share": "A context of neighbouring tokens is worth less than as many independent ones (our question, not "
    "the paper's).",
    "patterns_random_rate": "Keys of a text drawn at random, n for each query: the error at a query falls like 1/√n, "
    "from the n on at which the theory's next term is small (our question, not the paper's).",
    "propagation_quadrature": "Errors of attention made in different layers of {model} add in quadrature in its last "
    "states, as independent ones do (our question: the paper leaves stacked layers open).",
    "downstream_rate": "Keys drawn in every layer of {model}: the error of a text's embedding falls like 1/√n (our "
    "question, after an experiment in the paper's public code).",
    "downstream_horizon": "Keys drawn in every layer of {model}: texts with a larger H, the largest over heads and "
    "layers, converge more slowly (our question, after the paper's public code).",
    "normality": "At one query the error of attention is asymptotically normal, with a variance that the tokens "
    "give an estimate of.",
    "studies_rates_order": "A head that is slow on one text is slow on another: the rates of a model's heads have one "
    "order on all texts (our question, not the paper's).",
    "studies_rates_level": "The rates of a model's heads have one mean on all texts (our question, not the paper's).",
    "studies_horizons": "The horizons of a model's heads have one order and one size on all texts (our question, not "
    "the paper's).",
    "studies_variance": "Rates differ more from head to head than from text to text (our question, not the paper's).",
    "studies_horizon_order": "H orders the heads of models alike: over models and texts, β falls as H grows.",
    "studies_tilt_order": "Over models and texts, H or the constant tilt s₀ orders the heads, β falls as one grows and "
    "the other is held fixed (our question, not the paper's).",
    "studies_same_sign": "β goes the same way with H in every study (our question, not the paper's).",
    "studies_sub_gaussian": "Tokens of every text are sub-Gaussian along the directions of the heads, with a variance "
    "proxy close to their covariance (the paper assumes them sub-Gaussian; other texts are our question).",
    "studies_shared_noise": "Heads of a layer share their errors: it is worth fewer independent heads than it has (our "
    "question: the paper leaves several heads open).",
}
OF_ONE_RUN = [claim for claim in STATEMENTS if not claim.startswith("studies_")]  # the others are of a comparison
