"""How many features a surrogate of attention has, and how its work is cut. Standard library only: costs are from it."""

FOLDS = 2  # of the drawn queries: each is judged by the fit to the others
QUERIES_PER_KEY = 8  # for each of the few keys that a feature attends to: it costs an eighth of the exact outputs
QUERIES_PER_CLUSTER = 64  # for each cluster of keys whose weight is a feature
ROWS_PER_FEATURE = 3  # queries that a fit has for each feature, at least
CHUNKS = 16  # of the population, for any N: the largest number of jobs, each of which keeps one covariance a chunk
SPREAD_TOKENS = 65_536  # on which the spread of the fits about their mean is measured: about as many, or all if fewer


def few_keys(queries: int) -> int:
    """Number of keys that a feature attends to, for this number of drawn queries."""
    return max(1, queries // QUERIES_PER_KEY)


def clusters(queries: int) -> int:
    """Number of clusters of keys whose weight is a feature, for this number of drawn queries."""
    return max(1, queries // QUERIES_PER_CLUSTER)


def spread_step(population: int) -> int:
    """Step between the tokens on which the spread of the fits is measured, see SPREAD_TOKENS."""
    return max(1, population // SPREAD_TOKENS)


def product_directions(queries: int, width: int) -> int:
    """Number of coordinates whose products can be fitted to this number of queries, at most the width; 0: none.

    The queries outside a fold must be ROWS_PER_FEATURE times as many as the features.
    """
    bearable = (queries - -(-queries // FOLDS)) // ROWS_PER_FEATURE
    return next((r for r in range(width, 0, -1) if feature_count(queries, width, r) <= bearable), 0)


def feature_count(queries: int, width: int, directions: int) -> int:
    """Number of features: 1, coordinates, attention to a few keys, weights of clusters, products of coordinates."""
    return 1 + 2 * width + clusters(queries) + directions * (directions + 1) // 2
