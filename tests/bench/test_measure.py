"""The contenders of the benchmark compute the same thing, and a record says what it must."""

import numpy as np
import pytest

from attnlimit.bench.contenders import exact
from attnlimit.bench.measure import Case, limit_contenders, run_case, sample_contenders, truth, worst_errors
from attnlimit.bench.table import table
from support import dense

RECORD = {
    *("case", "contender", "seconds", "speedup_over_published", "speedup_over_fused"),
    *("error_mean", "error_cov", "peak_mb", "exponent"),
}


def single(heads):
    return type(heads)(*(part.astype(np.float32) for part in heads))


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    heads = single(dense.random_heads(rng, heads=3, width=8, feature=24, scale=0.3))
    return Case("small", rng.normal(size=(200, 24)).astype(np.float32), heads, rng.integers(200, size=90), [10, 90])


def test_the_truth_of_the_benchmark_is_the_dense_formula(case):
    for found, expected in zip(
        exact(case.tokens, case.heads, case.rows, 90), dense.moments(case.tokens[case.rows], case.heads), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_contenders_agree_to_their_precision(case):
    errors = {name: max(worst_errors(run(), truth(case))) for name, run in sample_contenders(case).items()}
    assert errors["published"] < 5e-3  # float16 accumulators
    assert errors["fused"] < 2e-6
    assert errors["ours"] < 2e-6


def test_dense_softmax_stands_for_the_published_gaussian_loop(case):
    one = case._replace(heads=single(type(case.heads)(*(part[:1] for part in case.heads))))
    assert max(worst_errors(sample_contenders(one)["published"](), truth(one))) < 2e-6


def test_limits_agree_whatever_the_block(case):
    tokens = case.tokens[np.repeat(np.arange(100), 2)]
    limit = case._replace(tokens=tokens, rows=np.arange(0, 200, 2), counts=np.full(100, 2), sizes=[32])
    for run in limit_contenders(limit).values():
        assert max(worst_errors(run(), truth(limit))) < 2e-6


def test_a_record_has_every_column_and_a_table_every_record(case):
    records = run_case(case, 1, np.random.default_rng(0))
    assert [record["contender"] for record in records] == ["published", "fused", "ours"]
    assert all(record.keys() == RECORD for record in records)
    assert all(100 < record["peak_mb"] < 2000 for record in records)
    records = [record | {"fraction_of_roofline": 0.5} for record in records]
    text = table(records, 1e11, 1e9, 2)
    assert len(text.splitlines()) == 6
    assert "100 Gflop/s" in text
