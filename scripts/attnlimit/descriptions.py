"""What the variables of stores are, in words: `long_name` and, where there is one, `units`."""

import xarray as xr

from attnlimit.coordinates import WHOLE, is_whole

TOKENS = "tokens"  # as a unit
ENDINGS = {
    "_se": "standard error of the {}",
    "_low": "lower end of the 95 % interval of the {}",
    "_high": "upper end of the 95 % interval of the {}",
    "_difference": "difference to the limit, mean over replicates: {}",
    "_gram": "inner products of group means of the differences to the limit: {}",
    "_wide_bins": "error from bins twice as wide: {}",
    "_discretisation": "relative change of the expected error with bins twice as wide: {}",
    "_value": "mean error over replicates: {}",
    "_error": "error of each replicate: {}",
    "_local_slope": "rate between neighbouring sizes, as a power of 1/n: {}",
    "_local_power": "rate between neighbouring sizes, as a power of 1/ln n: {}",
}
NAMES = {  # dimensions and labels
    "n": "sample size",
    "n_direct": "sample size",
    "layer": "attention layer, from 0",
    "head": "attention head of the layer, from 0",
    "statistic": "moment whose error it is: mean (Euclidean norm), cov (Frobenius), cov_spectral (spectral norm)",
    "part": "part of the error: the error itself, its bias, its fluctuation",
    "setting": "setting of the experiment",
    "replicate": "number of the replicate",
    "group": "group of replicates",
    "block": "block of the population",
    "token": "number of the token in the population",
    "direction": "leading direction, by falling variance",
    "coordinate": "coordinate of the output, along the tilt or across it",
    "probability": "number of the quantile",
    "of_law": "law of the tokens",
    "law": "law of the tokens",
    "compact": "whether the tokens are bounded",
    "dimension": "dimension of the tokens",
    "isotropic": "whether the tokens' covariance is a multiple of the identity",
    "exact": "whether errors are to the closed-form limit (else to a finite reference)",
    "published": "whether the scale is one of the published ones",
    "scale": "scale of the weights, or of the exponent s",
    "alpha": "factor on A",
    "tilt_factor": "factor on the constant tilt A m + b",
    "of_layer": "layer of the head that was changed",
    "of_head": "head that was changed",
    "radius": "radius R of the ball of queries",
    "tilt": "length of the tilt, in standard deviations of the tokens",
    "attended": "tokens that a query attends to: 1 / sum of squared weights, mean over queries",
}
NAMES |= {  # model, text, tokens
    "token_id": "number of the word piece in the vocabulary",
    "position": "position in the block",
    "block_of_token": "block that the token stands in",
    "page_id": "number of the article",
    "revision_id": "revision of the article",
    "tokens": "input of the attention layer",
    "rounding_error": "error of storing the tokens, relative to their spread",
    "query_weight": "W_q",
    "key_weight": "W_k",
    "value_weight": "W_v",
    "query_bias": "b_q",
    "key_bias": "b_k",
    "value_bias": "b_v",
    "token_mean": "mean of the tokens",
    "token_covariance": "covariance of the tokens",
    "eigenvalues": "eigenvalues of the tokens' covariance, falling",
    "participation_ratio": "effective rank of the tokens' covariance, (tr S)^2 / tr S^2",
    "variance": "variance of the tokens along the direction; of a head's first direction, H^2",
    "kurtosis": "excess kurtosis of the tokens along the direction",
    "log_mgf_ratio": "log E exp(s u) over s^2 / 2, which is 1 for a Gaussian",
    "effective_tokens": "tokens that carry the mean of exp(s u)",
    "sub_gaussian": "largest log_mgf_ratio that enough tokens carry: variance proxy in units of the covariance",
}
NAMES |= {  # couplings and predictions
    "horizon": "horizon H = ||S A S||_2, S the square root of the tokens' covariance (v3)",
    "horizon_one_sided": "||S A||_2 (v1)",
    "horizon_frobenius": "||S A S||_F",
    "constant_tilt": "s0 = |S (A m + b)|, standard deviation over keys of the mean token's scores",
    "horizon_published": "horizon as in the authors' public code: all heads together, without 1/sqrt(width)",
    "psi": "Psi = ||Sigma||_2 ||S A||_2^2 (v1)",
    "bound_v3": "lower bound on beta, 1/(2(1+H^2)) (v3)",
    "bound_v1_experiment": "lower bound on beta, 1/(2(1+Psi)) (v1, experiments)",
    "bound_v1_theorem": "lower bound on beta, 1/(2(1+32 Psi)) (v1, theorem)",
    "heuristic": "our heuristic for beta, min(1/2, 1/(1+H^2))",
}
NAMES |= {  # limits and errors
    "output_count": "queries of the block",
    "output_mean": "mean of the outputs of the block, less their shift",
    "output_scatter": "scatter of the outputs of the block about their mean",
    "output_shift": "W_v centre + b_v, taken off the outputs",
    "fourth_moment": "sum of |y - mean|^4 over the outputs",
    "centre": "point taken off all tokens before they are projected",
    "limit_mean": "mean of the transformed tokens in the limit",
    "limit_covariance": "covariance of the transformed tokens in the limit",
    "error": "distance of the moment on n tokens to its limit, each replicate",
    "limit_scale": "scale of the error: sqrt(tr V Sigma V^T) for the mean, norm of the limit for a covariance",
    "limit_se": "standard error of the limit: of errors in their units, of rates relative to limit_scale; 0 if exact",
    "limit_se_share": "standard error of the limit, over the error at the largest n; 0 if the limit is exact",
    "limit_uncertain": "whether limit_se_share is so large that the fit may be one of the limit's own error",
    "mean": "mean",
    "cov": "covariance",
}
NAMES |= {  # fits
    "value": "mean error over replicates",
    "beta": "rate: minus the slope of log error on log n",
    "se": "standard error of beta, for known variances",
    "se_scaled": "standard error of beta, scaled by sqrt(chi2 / dof)",
    "intercept": "log error that the fitted line has at n = 1",
    "chi2": "chi squared of the fit, sizes taken for independent",
    "dof": "degrees of freedom of the fit",
    "misfit": "whether the errors are no power law over these n",
    "saturated": "whether the error is still about as large as its scale, so that the rate is no exponent",
    "relative_error": "error at the largest n, relative to limit_scale",
    "eps": "wanted error, relative to limit_scale",
    "tokens_needed": "token-sample complexity n(eps): tokens from which on the error is at most eps of its scale",
    "tokens_needed_extrapolated": "whether n(eps) lies beyond the largest n",
    "noise_floor": "size that the bias would have from noise alone",
    "local_slope": "rate between neighbouring sizes",
}
NAMES |= {  # uniform error
    "sup": "largest distance to the limit over the ball",
    "sup_coarse": "the same on a grid twice as coarse",
    "effective": "effective sample size 1 / sum of squared weights, at the edge of the ball or at the query",
    "clt_edge": "root mean square of sqrt(n) times the error at one edge point, n to infinity",
    "clt_sup": "expected supremum of the limit process over the ball",
    "constant": "C(R) = sqrt(n) times the mean supremum",
    "grid_gap": "relative gain of the fine grid on the coarse one",
    "reached": "whether the error falls like 1/sqrt(n) here",
    "carried": "whether enough tokens carry the variance",
    "carried_beta": "rate over the sizes at which enough tokens carry the variance",
    "carried_se": "standard error of carried_beta",
    "carriers": "tokens that carry the variance, effective^2 / n",
    "growth": "growth rate of ln C(R) with R",
    "growth_intercept": "ln C at R = 0 of the fitted line",
    "growth_chi2": "chi squared of the growth fit",
    "growth_dof": "degrees of freedom of the growth fit",
    "growth_n": "n at which growth was fitted",
    "growth_local": "growth rate of ln C(R) from the radius before",
    "clt_growth_local": "the same of the limit process",
    "change": "relative change of the growth rate over the radii",
    "change_slope": "growth rate at the middle radius",
    "change_radii": "radii used",
    "change_n": "n at which the change was measured",
    "change_smallest_radius": "smallest radius used",
    "change_largest_radius": "largest radius used",
    "total_growth": "C(R) at the largest over C(R) at the smallest radius used",
    "upper_growth": "growth rate of ln C(R) over the upper half of the radii used",
    "over_clt": "C(R) over that of the limit process",
}
NAMES |= {  # hardmax, normality, constants
    "line": "hardmax on a line",
    "plane": "hardmax in a plane",
    "direct": "hardmax, all tokens drawn",
    "expected": "exact E|mean_n|, d = 1",
    "proposition": "leading term of Proposition 5.1",
    "ratio": "exact over proposed",
    "line_ratio": "drawn over proposed",
    "late_sizes": "sizes that the power of ln n was fitted on",
    "log_power": "power of 1/ln n",
    "expected_log_power": "power of 1/ln n of the exact expectation",
    "log_chi2": "chi squared of the power of ln n",
    "power_chi2": "chi squared of a power: of n for the hardmax, of R for C'",
    "deviation": "sqrt(n) times the error at the query",
    "plug_in": "estimate of its covariance from the tokens themselves",
    "mass": "mean of exp<t, X> over its expectation",
    "clt_covariance": "limit of n times the covariance of the error",
    "clt_bias": "limit of n times the bias",
    "covariance": "covariance of the deviation over replicates",
    "variance_ratio": "variance over replicates, over its limit",
    "plug_in_ratio": "mean of the plug-in variance, over its limit",
    "n_bias": "n times the bias",
    "coverage": "share of replicates whose 95 % interval holds the limit",
    "effective_mean": "mean effective sample size",
    "error_quantile": "quantile of the deviation, over its limiting standard deviation",
    "normal_quantile": "quantile of the normal law",
    "distance": "largest difference of the deviation's distribution function from the normal's",
    "power": "slope of ln C' on ln R",
    "exponential_chi2": "chi squared of ln C' = a + c R",
    "mixed_rate": "c of ln C' = a + p ln R + c R",
    "mixed_chi2": "chi squared of ln C' = a + p ln R + c R",
    "polynomial_chi2": "chi squared of a polynomial in R without negative coefficients",
    "polynomial_dof": "its degrees of freedom",
    "radii": "radii used: the error falls like 1/sqrt(n) there",
    "unsaturated_radii": "radii at which the error is not saturated",
    "radius_factor": "largest over smallest radius",
}
UNITS = {
    "n": TOKENS,
    "tokens_needed": TOKENS,
    "tokens_needed_low": TOKENS,
    "tokens_needed_high": TOKENS,
    "n_direct": TOKENS,
    "attended": TOKENS,
    "effective_tokens": TOKENS,
    "effective": TOKENS,
    "effective_mean": TOKENS,
    "carriers": TOKENS,
}


def long_name(name: str) -> str:
    """What a variable is; "" for one that nobody described."""
    if name in NAMES:
        return NAMES[name]
    if is_whole(name):
        inner = long_name(name.removeprefix(WHOLE))
        return f"{inner}, whole layer" if inner else ""
    for ending, words in ENDINGS.items():
        if name.endswith(ending) and (inner := long_name(name.removesuffix(ending))):
            return words.format(inner)
    return ""


def described(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with long_name and units on its variables and coordinates."""
    described = dataset.copy()
    for name in map(str, dataset.variables):
        words = {"long_name": long_name(name), "units": UNITS.get(name.removeprefix(WHOLE), "")}
        described[name].attrs.update({key: word for key, word in words.items() if word})
    return described
