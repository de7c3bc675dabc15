"""The check of a GPU, with the CPU in its place: what is near passes, what is not is named."""

import pytest
import torch

from attnlimit.attention import kernel
from attnlimit.attention.kernel import attend_cpu
from attnlimit.bench import gpu_check
from attnlimit.bench.gpu_check import LARGEST_DEVIATION, Layer, Row, compare, is_near, report
from support import gpu

SMALL = Layer("two heads of 5", 2, 5, [20, 75], 90, 40, 3)


def test_float32_is_near_and_float64_the_same():
    rows = list(compare(SMALL, "cpu"))
    assert [row[1:3] for row in rows] == [
        (quantity, dtype) for quantity in ("kernel", "limit", "errors") for dtype in ("float32", "float64")
    ]
    assert all(1e-9 < row.deviation < LARGEST_DEVIATION for row in rows if row.dtype == "float32")
    assert all(row.deviation < 1e-12 for row in rows if row.dtype == "float64")


def test_the_cuda_kernel_would_pass(monkeypatch, capsys):
    monkeypatch.setitem(kernel.FUSED, ("cpu", torch.float32), kernel.attend_cuda)
    with gpu.emulated():
        assert report([SMALL], "cpu") is None
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7 and not any("TOO FAR" in line for line in lines)


@pytest.mark.parametrize("wrong", ["output", "total"])
def test_a_kernel_that_deviates_is_named(monkeypatch, capsys, wrong):
    """By a part in ten thousand, in the outputs or in the log-sum-exp that merges them."""

    def deviating(queries, segment):
        state = attend_cpu(queries, segment)
        return state._replace(**{wrong: getattr(state, wrong) * (1 + 1e-4)})

    monkeypatch.setitem(kernel.FUSED, ("cpu", torch.float32), deviating)
    message = report([SMALL], "cpu")
    assert message.startswith("gpu-check: 3 of 6 rows deviate by more than 2e-06, ") and "\n" not in message
    rows = capsys.readouterr().out.splitlines()[1:]
    assert all(("TOO FAR" in row) == ("float32" in row) for row in rows)


def test_no_number_is_never_near():
    assert not is_near(Row("", "", "", float("nan"), 1, 1))
    assert is_near(Row("", "", "", LARGEST_DEVIATION, 1, 1))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_says_so_in_one_line(capsys):
    with pytest.raises(SystemExit) as stopped:
        gpu_check.main()
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and "sees no CUDA GPU" in said.err
