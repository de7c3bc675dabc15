"""Guests of the benchmark: one that is not available is a line, one that is there computes the same."""

import subprocess

import numpy as np
import pytest
import torch

from attnlimit.bench import guests
from attnlimit.bench.contenders import prepare
from attnlimit.bench.measure import Case, truth, worst_errors
from attnlimit.bench.rounds import Elsewhere, clock
from support import dense


def small_case():
    rng = np.random.default_rng(0)
    heads = dense.random_heads(rng, heads=2, width=4, feature=6, scale=0.3)
    heads = type(heads)(*(part.astype(np.float32) for part in heads))
    return Case("small", rng.normal(size=(60, 6)).astype(np.float32), heads, rng.integers(60, size=40), [20, 40])


def test_guests_that_cannot_be_had_are_a_line_each(monkeypatch, tmp_path):
    """No compiler, no network: nothing stops."""

    def no_compiler(*_):
        raise RuntimeError("InductorError:\nno working C++ compiler")

    def no_network(command):
        raise subprocess.CalledProcessError(1, command, stderr="WARNING: retrying\nERROR: No matching distribution\n")

    monkeypatch.setattr(guests, "flex", no_compiler)
    monkeypatch.setattr(guests, "flex_refusal", lambda: "NotImplementedError: not yet")
    monkeypatch.setattr(guests, "run", no_network)
    records, remarks = guests.guest_records(small_case(), tmp_path / "keops", np.random.default_rng(0))
    assert records == []
    assert [line for line in remarks if "not available" in line] == [
        "flex: left out, not available here: no working C++ compiler",
        "keops: left out, not available here: ERROR: No matching distribution",
    ]
    assert all("\n" not in line for line in remarks) and not (tmp_path / "keops/ready").exists()


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_without_a_compiler_is_the_same_attention(monkeypatch):
    """Its moments against the dense formula; compiled in `make bench` only."""
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    case = small_case()
    pool, shift = prepare(case.tokens, case.heads)
    found = guests.flex(pool.take(torch.as_tensor(case.rows)), shift, case.sizes)
    assert max(worst_errors(found, list(truth(case).values()))) < 2e-6


def test_seconds_of_another_process_are_its_own():
    assert clock(lambda: Elsewhere(3.5, "moments")) == (3.5, "moments")
