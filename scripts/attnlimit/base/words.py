"""What the variables of stores are, in words: `long_name` and, in brackets at the end of the words, `units`.

Words belong to a store: the about.py of its question declares them. Here is what many stores share. Standard library
only: the host that plans the jobs imports it.
"""

import re

Words = dict[str, str]  # of a store: what each variable is; code_hash leaves such definitions out

ENDINGS: Words = {  # of names: {} is what the name without the ending is
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
SAME_UNIT = ("_se", "_low", "_high")
UNIT = re.compile(r"(.+?)(?: \[(\w+)\])?")

LABELS: Words = {
    "n": "sample size [tokens]",
    "layer": "attention layer, from 0",
    "head": "attention head of the layer, from 0; -1: the whole layer, its heads side by side",
    "setting": "setting of the experiment",
    "replicate": "number of the replicate",
    "group": "group of replicates",
    "block": "block of the population",
    "statistic": "moment whose error it is: mean (Euclidean norm), cov (Frobenius), cov_spectral (spectral norm)",
    "part": "part of the error: the error itself, its bias, its fluctuation",
}
POINTWISE: Words = {
    "statistic": "what is compared: mean (Euclidean norm), cov (Frobenius), pointwise (root mean square over tokens)"
}
COUPLINGS: Words = {
    "horizon": "horizon H = ||S A S||_2, S the square root of the tokens' covariance (v3)",
    "horizon_one_sided": "||S A||_2 (v1)",
    "horizon_frobenius": "||S A S||_F",
    "constant_tilt": "s0 = |S (A m + b)|, standard deviation over keys of the mean token's scores",
    "horizon_published": "horizon as in the authors' public code: all heads together, without 1/sqrt(width)",
    "psi": "Psi = ||Sigma||_2 ||S A||_2^2 (v1)",
    "seen_variance": "Lambda_A = lambda_max(P Sigma P), P onto the image of A: variance of tokens that scores see",
}
POOLED: Words = {  # of heads of any model, queries and keys as the scores see them
    "depth": "place of the layer in the model, 0 for the first and 1 for the last of its layers",
    "horizon": "horizon H = ||C_q^1/2 C_k^1/2||_2 / sqrt(width), covariances of queries and keys as the scores see "
    "them over the tokens of all windows",
    "constant_tilt": "s0 = |C_k^1/2 E q| / sqrt(width), standard deviation over keys of the mean query's scores, over "
    "the tokens of all windows",
}
MOMENTS: Words = {"mean": "mean", "cov": "covariance"}  # before an ending
ERRORS: Words = {  # to a limit
    **LABELS,
    **COUPLINGS,
    **MOMENTS,
    "error": "distance of the moment on n tokens to its limit, each replicate",
    "limit_scale": "scale of the error: sqrt(tr V Sigma V^T) for the mean, norm of the limit for a covariance",
    "limit_se": "standard error of the limit, in the units of the error; 0 if exact",
}
LINE: Words = {  # a power law in n
    "value": "mean error over replicates",
    "beta": "rate: minus the slope of log error on log n",
    "se": "standard error of beta, for known variances",
    "se_scaled": "standard error of beta, scaled by sqrt(chi2 / dof)",
    "intercept": "log error that the fitted line has at n = 1",
    "chi2": "chi squared of the fit, sizes taken as independent",
    "dof": "degrees of freedom of the fit",
    "misfit": "whether the errors are no power law over these n",
    "local_slope": "rate between neighbouring sizes",
}
WINDOWS: Words = {"window": "window of text: the first tokens of an article", "title": "title of the article"}
FITS: Words = {  # of errors to a limit, as fit_rates makes them
    **ERRORS,
    **LINE,
    "saturated": "whether the error is still about as large as its scale, so that the rate is no exponent",
    "relative_error": "error at the largest n, relative to limit_scale",
    "limit_se": "standard error of the limit, relative to limit_scale; 0 if exact",
    "limit_se_share": "standard error of the limit, over the error at the largest n; 0 if the limit is exact",
    "limit_uncertain": "whether limit_se_share is so large that the fit may be one of the limit's own error",
    "noise_floor": "size that the bias would have from noise alone",
    "eps": "wanted error, relative to limit_scale",
    "tokens_needed": "token-sample complexity n(eps): tokens from which on the error is at most eps of its scale "
    "[tokens]",
    "tokens_needed_extrapolated": "whether n(eps) lies beyond the largest n",
    "bound_v3": "lower bound on beta, 1/(2(1+H^2)) (v3)",
    "bound_v1_experiment": "lower bound on beta, 1/(2(1+Psi)) (v1, experiments)",
    "bound_v1_theorem": "lower bound on beta, 1/(2(1+32 Psi)) (v1, theorem)",
    "heuristic": "our heuristic for beta, min(1/2, 1/(1+H^2))",
}


def words_of(name: str, words: Words) -> tuple[str, str]:
    """What a variable is, and its unit: by its name or by its ending; "" if nobody said."""
    if name in words:
        found = UNIT.fullmatch(words[name])
        return (found[1], found[2] or "") if found else ("", "")
    for ending, frame in ENDINGS.items():
        if name.endswith(ending):
            inner, unit = words_of(name.removesuffix(ending), words)
            if inner:
                return frame.format(inner), unit if ending in SAME_UNIT else ""
    return "", ""
