"""Names of the integer coordinates that stores share."""

WHOLE_LAYER = -1  # the head number under which the heads stand side by side
STATISTICS = ("mean", "cov", "cov_spectral")  # Euclidean, Frobenius and spectral norm of the difference to the limit
PARTS = ("error", "bias", "fluctuation")
