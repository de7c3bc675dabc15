"""Does the attention map converge like C(R)/√n uniformly over queries in a ball?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import LABELS, LINE

# Words of the variables, by store.
BALLS: Words = {
    "law": "law of the tokens",
    "compact": "whether the tokens are bounded",
    "dimension": "dimension of the tokens",
    "radius": "radius R of the ball of queries",
    "effective": "effective sample size 1 / sum of squared weights, at the edge of the ball [tokens]",
    "clt_edge": "root mean square of sqrt(n) times the error at one edge point, n to infinity",
    "clt_sup": "expected supremum of the limit process over the ball",
}
STORES: dict[str, Words] = {
    "synthetic/uniform": LABELS
    | BALLS
    | {
        "sup": "largest distance to the limit over the ball",
        "sup_coarse": "largest distance to the limit over the ball, on a grid twice as coarse",
    },
    "rates/uniform": LABELS
    | BALLS
    | LINE
    | {
        "of_law": "law that the growth is of",
        "constant": "C(R) = sqrt(n) times the mean supremum",
        "grid_gap": "relative gain of the fine grid on the coarse one",
        "reached": "whether the error falls like 1/sqrt(n) here",
        "carried": "whether enough tokens carry the variance",
        "carried_beta": "rate over the sizes at which enough tokens carry the variance",
        "carried_se": "standard error of carried_beta",
        "growth": "growth rate of ln C(R) with R",
        "growth_intercept": "ln C at R = 0 of the fitted line",
        "growth_chi2": "chi squared of the growth fit",
        "growth_dof": "degrees of freedom of the growth fit",
        "growth_n": "n at which growth was fitted [tokens]",
        "growth_local": "growth rate of ln C(R) from the radius before",
        "clt_growth_local": "growth rate from the radius before, of the limit process",
        "change": "relative change of the growth rate over the radii",
        "change_radii": "radii that the change was measured over",
        "change_n": "n at which the change was measured [tokens]",
        "change_smallest_radius": "smallest radius used",
        "change_largest_radius": "largest radius used",
        "total_growth": "C(R) at the largest over C(R) at the smallest radius used",
        "upper_growth": "growth rate of ln C(R) over the upper half of the radii used",
        "over_clt": "C(R) over that of the limit process",
    },
}

ABOUT = About(
    title="uniform convergence on a ball",
    question="Does the attention map converge like C(R)/√n uniformly over queries in a ball?",
    chapter="theory",
    place=3,
    figures={
        "uniform": "Simulated: largest error over a ball",
    },
    stores=STORES,
)
