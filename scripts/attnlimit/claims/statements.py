"""What the paper claims, in the order of its pages: the words of each claim, by its id."""

FALLS, ABOVE = "beta falls as H grows.", "beta is at or above 1/(2(1+H^2))."
GAUSSIAN = "Gaussian experiment, errors to the exact limit"
PUBLISHED = "Gaussian experiment as published, errors to a finite reference"
BERT = "BERT experiment, heads of {model}"
STATEMENTS = {
    "uniform_rate": "The attention map converges uniformly on a ball of radius R like C(R) / sqrt(n) (abstract).",
    "uniform_growth": "C(R) grows exponentially with R (abstract), read as: no slower than an exponential.",
    "uniform_one_exponential": "C(R) grows exponentially with R (abstract), read word by word: one rate c serves all R "
    "in e^(cR).",
    "moment_rate": "Moments of the transformed tokens converge like n^-beta with beta below 1/2 (abstract).",
    "horizon_dependence": "The exponent beta depends on the attention's geometry and the tokens' covariance: it falls "
    "as H grows.",
    "bound_theorem": "The rate is at least 1/(2(1+32 Psi)) (theorem, v1).",
    "bound_curve": "The rate is at least 1/(2(1+H^2)) (the curve of v3).",
    "constants": "The constant C'(R) of the moments is polynomial in the size of the support, not exponential "
    "(abstract).",
    "hardmax_constant": "Hardmax on normal tokens, d = 1: E|mean_n| = ln(4) sigma / (2 sqrt(2 ln n)) (1 + o(1)) "
    "(Proposition 5.1).",
    "hardmax_logarithm": "In the hardmax regime the rate is logarithmic (abstract): E|mean_n| falls like (ln n)^-1/2, "
    "d = 1.",
    "gaussian_exact_falls": f"{GAUSSIAN}: {FALLS}",
    "gaussian_exact_above": f"{GAUSSIAN}: {ABOVE}",
    "gaussian_published_falls": f"{PUBLISHED}: {FALLS}",
    "gaussian_published_above": f"{PUBLISHED}: {ABOVE}",
    "bert_falls": f"{BERT}: {FALLS}",
    "bert_above": f"{BERT}: {ABOVE}",
    "normality": "At one query the error of attention is asymptotically normal, with a variance that the tokens tell.",
}
