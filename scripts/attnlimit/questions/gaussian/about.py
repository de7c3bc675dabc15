"""How does the rate depend on the horizon for Gaussian tokens, whose limit is known exactly?"""

from attnlimit.base.about import About, Words

# Words of the variables, by store.
STORES: dict[str, Words] = {}

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
)
