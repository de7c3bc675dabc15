"""How many features a surrogate of attention has, and how its work is cut. Standard library only: costs are from it."""

FOLDS = 2  # of the drawn queries: each is judged by the fit to the others
QUERIES_PER_KEY = 8  # for each of the few keys that a feature attends to: it costs an eighth of the exact outputs
ROWS_PER_FEATURE = 3  # queries that a fit has for each feature, at least
CHUNKS = 16  # of the population: as many jobs can share it, and each keeps one covariance, whatever N


def few_keys(queries: int) -> int:
    """How many keys a feature attends to, for so many drawn queries."""
    return max(1, queries // QUERIES_PER_KEY)


def product_directions(queries: int, width: int) -> int:
    """Coordinates whose products can be fitted to so many queries, at most all; 0: none.

    The queries outside of a fold must bear as many features as there are.
    """
    bearable = (queries - -(-queries // FOLDS)) // ROWS_PER_FEATURE
    return next((r for r in range(width, 0, -1) if feature_count(width, r) <= bearable), 0)


def feature_count(width: int, directions: int) -> int:
    """1, the coordinates, the attention to a few keys, and the products of so many coordinates."""
    return 1 + 2 * width + directions * (directions + 1) // 2
