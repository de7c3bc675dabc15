"""The contenders of the benchmark compute the same thing, and a record says what it must."""

import numpy as np
import pytest

from attnlimit.bench.contenders import exact
from attnlimit.bench.limits import HEAD, limits_of, table_rows
from attnlimit.bench.measure import (
    Case,
    growth,
    ideal_seconds,
    large_limit,
    limit_contenders,
    run_case,
    sample_contenders,
    truth,
    worst_errors,
)
from attnlimit.bench.memory import peak_megabytes
from attnlimit.bench.rounds import Roof
from attnlimit.bench.table import COLUMNS, bench_table
from support import dense

SPREADS = {"seconds", "speedup_over_published", "speedup_over_fused", "fraction_of_roofline", "exponent"}
RECORD = {"case", "contender", *COLUMNS, *(f"{name}_quartiles" for name in SPREADS)}


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


def known(case):
    """True moments at all sizes, of which a case has two here."""
    return list(truth(case).values())


def test_contenders_agree_to_their_precision(case):
    errors = {name: max(worst_errors(run(), known(case))) for name, run in sample_contenders(case).items()}
    assert errors["published"] < 5e-3  # float16 accumulators
    assert errors["fused"] < 2e-6
    assert errors["ours"] < 2e-6


def test_dense_softmax_stands_for_the_published_gaussian_loop(case):
    one = case._replace(heads=single(type(case.heads)(*(part[:1] for part in case.heads))))
    assert max(worst_errors(sample_contenders(one)["published"](), known(one))) < 2e-6


@pytest.fixture
def limit(case):
    tokens = case.tokens[np.repeat(np.arange(100), 2)]
    return case._replace(tokens=tokens, rows=np.arange(0, 200, 2), counts=np.full(100, 2), sizes=[32])


def test_limits_agree_whatever_the_block(limit):
    for run in limit_contenders(limit).values():
        assert max(worst_errors(run(), known(limit))) < 2e-6


def test_a_record_has_every_column_and_a_table_every_record(case, limit):
    rng = np.random.default_rng(0)
    records = [*run_case(case, 2, rng), *run_case(limit, 1, rng), *large_limit(limit, rng)]
    records.append(growth("growth", {1: lambda: None, 2: lambda: None, 4: lambda: None}, 1, rng))
    assert [record["contender"] for record in records[:3]] == ["published", "fused", "ours"]
    assert all(record.keys() == RECORD for record in records)
    text = bench_table(records, 2)
    assert len(text.splitlines()) == 1 + len(records) + 4
    assert text.splitlines()[1].split()[:2] == ["small", "published"]


def test_errors_are_those_of_the_first_and_the_last_size(case):
    """Not of another one in between."""
    three = case._replace(sizes=[10, 50, 90])
    (published, *_) = run_case(three, 1, np.random.default_rng(0))
    every = sample_contenders(three)["published"]()
    expected = worst_errors([every[0], every[2]], [exact(case.tokens, case.heads, case.rows, n) for n in (10, 90)])
    assert (published["error_mean"], published["error_cov"]) == pytest.approx(expected)


def test_the_roof_counts_every_pair_once(case, limit):
    """4 n^2 D flops or n^2 h exponentials; a counted limit has as many pairs as its atoms."""
    assert ideal_seconds(case, "fused", Roof(1e9, 1e12)) == pytest.approx(4 * 90**2 * 24 / 1e9)
    assert ideal_seconds(case, "ours", Roof(1e12, 1e6)) == pytest.approx(90**2 * 3 / 1e6)
    assert ideal_seconds(limit, "fused", Roof(1e9, 1e12)) == pytest.approx(4 * 200**2 * 24 / 1e9)
    assert ideal_seconds(limit, "ours", Roof(1e9, 1e12)) == pytest.approx(4 * 100**2 * 24 / 1e9)


def test_memory_is_that_of_a_process_of_its_own(case):
    """Interpreter and torch, and some hundred numbers."""
    assert 100 < peak_megabytes(case, "ours") < 2000


def test_limits_from_some_queries_state_their_errors_and_are_as_far_off(case):
    """Off by about what is stated, closer with a surrogate; without the exact limit nothing is said to be off."""
    rng = np.random.default_rng(3)
    tokens = rng.normal(size=(600, 24)).astype(np.float32)
    many = Case("", tokens, case.heads, np.arange(600), [64], np.ones(600))
    marks = np.arange(600) % 50 == 0
    every, plain, better = limits_of(many, marks, [300], True, rng)
    assert (every["way"], every["queries"], every["off_mean"]) == ("all", 600, None)
    for record in (plain, better):
        for kind in ("mean", "cov"):
            assert record[f"off_{kind}"][0] < 4 * record[f"stated_{kind}"][0]
    assert better["stated_mean"][0] < plain["stated_mean"][0]
    *_, alone = limits_of(many, marks, [300], False, rng)
    assert alone["off_mean"] is None and alone["stated_mean"] is not None
    assert [row[1] for row in table_rows([every, alone])] == ["all", "300, surrogate"]
    assert {len(row) for row in table_rows([every, alone])} == {len(HEAD)}
