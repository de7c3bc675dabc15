"""The couplings of a block are those of geometry.py, computed from queries and keys."""

import numpy as np
import pytest

from attnlimit.theory.geometry import constant_tilt, horizons, tilt_bias, tilt_matrix
from attnlimit.theory.projected import block_couplings


@pytest.mark.parametrize("tokens", [3, 50])  # fewer than the width: a singular covariance
def test_queries_and_keys_tell_what_the_tokens_covariance_tells(tokens):
    stream = np.random.default_rng(1)
    token = stream.normal(size=(tokens, 7)) + stream.normal(size=7)
    query_weight, key_weight = stream.normal(size=(2, 3, 4, 7))  # 3 heads of width 4
    query_bias, key_bias = stream.normal(size=(2, 3, 4))
    queries = np.einsum("tf,hwf->htw", token, query_weight) + query_bias[:, None]
    keys = np.einsum("tf,hwf->htw", token, key_weight) + key_bias[:, None]
    found = block_couplings(queries, keys)
    covariance, mean = np.cov(token.T, ddof=0), token.mean(0)
    for head in range(3):
        tilt = tilt_matrix(query_weight[head], key_weight[head])
        expected = horizons(covariance, tilt)
        expected["constant_tilt"] = constant_tilt(mean, covariance, tilt, tilt_bias(query_bias[head], key_weight[head]))
        for name, values in found.items():
            assert values[head] == pytest.approx(expected[name], rel=1e-9), name
