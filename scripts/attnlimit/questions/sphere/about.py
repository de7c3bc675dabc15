"""How do rate and constant depend on the size of a bounded support?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import ERRORS, FITS, LABELS

# Words of the variables, by store.
SCALES: Words = {
    "scale": "scale of the weights",
    "published": "whether the scale is one of the published ones",
    "attended": "tokens that a query attends to: 1 / sum of squared weights, mean over queries [tokens]",
}
STORES: dict[str, Words] = {
    "synthetic/sphere": ERRORS | SCALES,
    "rates/sphere": FITS | SCALES,
    "rates/constants": LABELS
    | {
        "power": "slope of ln C' on ln R",
        "power_chi2": "chi squared of a power of R",
        "exponential_chi2": "chi squared of ln C' = a + c R",
        "mixed_rate": "c of ln C' = a + p ln R + c R",
        "mixed_chi2": "chi squared of ln C' = a + p ln R + c R",
        "polynomial_chi2": "chi squared of a polynomial in R without negative coefficients",
        "polynomial_dof": "degrees of freedom of the polynomial",
        "radii": "radii used: the error falls like 1/sqrt(n) there",
        "unsaturated_radii": "radii at which the error is not saturated",
        "radius_factor": "largest over smallest radius",
    },
}
PARTS: dict[str, Words] = {"synthetic/parts/sphere_part_{part}": ERRORS | SCALES}

ABOUT = About(
    title="tokens on a sphere",
    question="How do rate and constant depend on the size of a bounded support?",
    chapter="theory",
    place=1,
    errors={
        "sphere": "synthetic/sphere",
    },
    figures={
        "sphere_beta_vs_horizon": "sphere: rate against horizon",
    },
    stores=STORES,
    parts=PARTS,
)
