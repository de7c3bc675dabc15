"""Is the rate only logarithmic when a query reads nothing but its best key?"""

from attnlimit.base.about import About, Words
from attnlimit.base.words import LABELS

# Words of the variables, by store.
DRAWN: Words = {
    "dimension": "dimension of the tokens",
    "n_direct": "sample size where all tokens are drawn [tokens]",
    "line": "hardmax on a line",
    "plane": "hardmax in a plane",
    "direct": "hardmax, all tokens drawn",
}
STORES: dict[str, Words] = {
    "synthetic/hardmax": LABELS | DRAWN,
    "rates/hardmax": LABELS
    | DRAWN
    | {
        "expected": "exact E|mean_n|, d = 1",
        "proposition": "leading term of Proposition 5.1",
        "ratio": "exact over proposed",
        "line_ratio": "drawn over proposed",
        "late_sizes": "sizes that the power of ln n was fitted on",
        "log_power": "power of 1/ln n",
        "expected_log_power": "power of 1/ln n of the exact expectation",
        "log_chi2": "chi squared of the power of ln n",
        "power_chi2": "chi squared of a power of n",
    },
}

ABOUT = About(
    title="hardmax",
    question="Is the rate only logarithmic when a query reads nothing but its best key?",
    chapter="theory",
    place=2,
    figures={
        "hardmax": "Gaussian: hardmax, error against n, by dimension",
    },
    stores=STORES,
)
