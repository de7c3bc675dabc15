"""How does the rate depend on the horizon for Gaussian tokens, whose limit is known exactly?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import ERRORS, FITS

# Words of the variables, by store.
TOKENS: Words = {
    "dimension": "dimension of the tokens",
    "isotropic": "whether the tokens' covariance is a multiple of the identity",
}
PROTOCOL: Words = {
    "scale": "scale of the weights",
    "exact": "whether errors are to the closed-form limit (else to a finite reference)",
}
STORES: dict[str, Words] = {
    "synthetic/gaussian": ERRORS | TOKENS,
    "synthetic/gaussian_published": ERRORS | PROTOCOL,
    "synthetic/gaussian_asymptotic": ERRORS,
    "rates/gaussian": FITS | TOKENS,
    "rates/gaussian_published": FITS | PROTOCOL,
    "rates/gaussian_asymptotic": FITS,
}
PARTS: dict[str, Words] = {
    "synthetic/parts/gaussian_part_{part}": ERRORS | TOKENS,
    "synthetic/parts/gaussian_published_part_{part}": ERRORS | PROTOCOL,
}

ABOUT = About(
    title="Gaussian tokens",
    question="How does the rate depend on the horizon for Gaussian tokens, whose limit is known exactly?",
    chapter="theory",
    place=0,
    errors={
        "gaussian": "synthetic/gaussian",
        "gaussian_published": "synthetic/gaussian_published",
        "gaussian_asymptotic": "synthetic/gaussian_asymptotic",
    },
    figures={
        "gaussian_beta_vs_horizon": "Gaussian: rate against horizon, by dimension",
        "gaussian_local_slopes": "Gaussian: slopes between sizes",
        "gaussian_protocol": "Gaussian: exact against finite reference",
        "gaussian_asymptotic": "Gaussian: rate up to 10¹⁰ tokens, d = 1",
    },
    stores=STORES,
    parts=PARTS,
)
