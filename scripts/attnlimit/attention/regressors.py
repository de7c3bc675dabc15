"""How many features a surrogate of attention has, and how its work is cut. Standard library only: costs are from it."""

FOLDS = 2  # of the drawn queries: each is judged by the fit to the others
QUERIES_PER_KEY = 8  # for each of the few keys that a feature attends to: it costs an eighth of the exact outputs
QUERIES_PER_CLUSTER = 64  # for each cluster of keys whose weight is a feature
ROWS_PER_FEATURE = 3  # queries that a fit has for each feature, at least
CHUNKS = 16  # of the population: as many jobs can share it, and each keeps one covariance, whatever N
SPREAD_TOKENS = 65_536  # on which it is measured how far the fits are from each other: all, or about so many


def few_keys(queries: int) -> int:
    """How many keys a feature attends to, for so many drawn queries."""
    return max(1, queries // QUERIES_PER_KEY)


def clusters(queries: int) -> int:
    """How many clusters of keys have their weight as a feature, for so many drawn queries."""
    return max(1, queries // QUERIES_PER_CLUSTER)


def spread_step(population: int) -> int:
    """Every which token tells how far the fits are from each other."""
    return max(1, population // SPREAD_TOKENS)


def product_directions(queries: int, width: int) -> int:
    """Coordinates whose products can be fitted to so many queries, at most all; 0: none.

    The queries outside of a fold must bear as many features as there are.
    """
    bearable = (queries - -(-queries // FOLDS)) // ROWS_PER_FEATURE
    return next((r for r in range(width, 0, -1) if feature_count(queries, width, r) <= bearable), 0)


def feature_count(queries: int, width: int, directions: int) -> int:
    """1, the coordinates, the attention to a few keys, the weights of clusters, and products of so many coordinates."""
    return 1 + 2 * width + clusters(queries) + directions * (directions + 1) // 2
