"""What runs on a GPU, without one: shapes, dtypes and devices by torch's own rules; numbers by an exact stand-in."""

import weakref

import numpy as np
import pytest
import torch

from attnlimit.attention import kernel
from attnlimit.attention.kernel import Projected, Segment, attend, attend_cuda, attend_plain, nested_moments, project
from attnlimit.attention.regressors import FOLDS, feature_count
from attnlimit.attention.streaming import BLOCKS_AT_ONCE, Atoms, Pass, blocks_at_once, limit_blocks
from attnlimit.attention.surrogate import Surrogate, averaged, basis_of, correction_of, fit_spread, predict
from attnlimit.base.parts import cuts
from attnlimit.theory.moments import merge_all
from support import dense, gpu

WIDTHS = [1, 7, 8, 32, 50, 64]


def tensors(width, queries=37, keys=45, heads=2, device="cpu", dtype=torch.float32):
    stream = torch.Generator().manual_seed(width)
    shapes = [(heads, queries, width), (heads, keys, width), (heads, keys, width), (keys,)]
    parts = [torch.randn(shape, generator=stream) for shape in shapes]
    return [part.to(device=device, dtype=dtype) for part in parts]


@pytest.fixture
def fused_on_cpu(monkeypatch):
    """attend takes the CUDA kernel for float32, on the CPU."""
    with gpu.emulated():
        monkeypatch.setitem(kernel.FUSED, ("cpu", torch.float32), attend_cuda)
        yield


def test_the_stand_in_is_there_for_the_test_only():
    queries, keys, values, _ = tensors(8)
    with pytest.raises(NotImplementedError):
        attend_cuda(queries, Segment(keys, values))


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("function", [attend_cuda, attend_plain])
def test_shapes_on_the_meta_device(function, width, counted):
    queries, keys, values, logs = tensors(width, device="meta")
    state = function(queries, Segment(keys, values, logs if counted else None))
    assert state.output.shape == (2, 37, width) and state.total.shape == (2, 37)
    assert state.output.dtype == state.total.dtype == torch.float32
    assert state.output.device.type == state.total.device.type == "meta"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [7, 32])
def test_a_sample_stays_on_the_gpu_up_to_its_moments(monkeypatch, width, dtype):
    """Every operator between tokens and moments: an array left on the CPU would be refused."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**30, 2**31))
    rng = np.random.default_rng(0)
    heads, tokens = dense.random_heads(rng, heads=2, width=width, feature=11), rng.normal(size=(70, 11))
    with gpu.shapes_only():
        pool = project(tokens, heads, np.zeros(11), "cuda", dtype)
        assert {(part.device.type, part.dtype) for part in pool} == {("cuda", getattr(torch, dtype))}
        sample = pool.take(torch.as_tensor(rng.integers(70, size=50), device="cuda"))
        found = list(nested_moments(sample, [1, 33, 50]))
    assert [(one.mean.shape, one.scatter.shape) for one in found] == [((2 * width,), (2 * width, 2 * width))] * 3
    assert {part.dtype for one in found for part in one[1:]} == {np.dtype(float)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_limit_stays_on_the_gpu_up_to_its_moments(monkeypatch, dtype):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**30, 2**31))
    rng = np.random.default_rng(0)
    heads, tokens = dense.random_heads(rng), rng.normal(size=(60, 6))
    atoms = Atoms(lambda cut: tokens[cut], rng.integers(1, 4, size=60))
    with gpu.shapes_only():
        found = list(limit_blocks(atoms, atoms, cuts(60, 16), Pass(heads, np.zeros(6), 16, "cuda", dtype)))
    assert [(moments.scatter.shape, fourth.shape) for moments, fourth in found] == [((12, 12), (4,))] * 4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_surrogate_stays_on_the_gpu(monkeypatch, dtype):
    """Its features and predictions, and the moments of these; it is fitted in float64 on the CPU."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**30, 2**31))
    heads, width, directions, few = 3, 4, 2, 5
    with gpu.shapes_only():
        kind = {"device": "cuda", "dtype": getattr(torch, dtype)}
        segment = Segment(*(torch.empty(heads, few, width, **kind) for _ in range(2)))
        queries, outputs = (torch.empty(heads, 40, width, **kind) for _ in range(2))
        basis = basis_of(queries, segment, directions, torch.empty(heads, 30, width, **kind), 1)
        coefficients = torch.empty(FOLDS, heads, feature_count(0, width, directions), width, **kind)
        surrogate = Surrogate(basis, coefficients, np.full(FOLDS, 1 / FOLDS))
        predicted = predict(surrogate, queries)
        assert predict(averaged(surrogate), queries).device.type == "cuda"
        fit_spread(surrogate, queries, torch.ones(40, device="cuda"))
        correction = correction_of(outputs, predicted, np.arange(40) % FOLDS, np.zeros(40, int), np.array([100]))
    assert predicted.shape == (FOLDS, heads, 40, width) and predicted.device.type == "cuda"
    assert predicted.dtype == getattr(torch, dtype) and correction.mean_se.shape == (heads + 1,)


def test_an_array_left_on_the_cpu_is_noticed():
    """The check that the two tests above rest on."""
    with gpu.shapes_only():
        sample = Projected(*(torch.empty(2, 5, 8, device=device) for device in ("cuda", "cuda", "cpu")))
        with pytest.raises(RuntimeError, match="same device"):
            list(nested_moments(sample, [5]))


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("queries", [1, 32, 37])
@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_of_the_cuda_kernel(fused_on_cpu, width, queries, counted):
    """Widths that are padded, tiles that are cut, counts as one more coordinate."""
    queries, keys, values, logs = tensors(width, queries)
    segment = Segment(keys, values, logs if counted else None)
    found = attend(queries, segment)
    exact = attend(queries.double(), Segment(*(None if part is None else part.double() for part in segment)))
    torch.testing.assert_close(found.output.double(), exact.output, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(found.total.double(), exact.total, rtol=1e-6, atol=1e-6)


def test_samples_and_limits_through_the_cuda_kernel(fused_on_cpu):
    rng = np.random.default_rng(1)
    heads, tokens = dense.random_heads(rng, heads=2, width=5, feature=12, scale=0.3), rng.normal(size=(90, 12))
    centre, counts = tokens.mean(0), rng.integers(1, 4, size=90)
    shift = kernel.output_shift(heads, centre)
    sample = project(tokens, heads, centre, "cpu", "float32")
    for size, found in zip([10, 33, 90], nested_moments(sample, [10, 33, 90]), strict=True):
        near(found, shift, dense.moments(tokens[:size], heads))
    atoms, how = Atoms(lambda cut: tokens[cut], counts), Pass(heads, centre, 40, "cpu", "float32")
    found = merge_all(moments for moments, _ in limit_blocks(atoms, atoms, cuts(90, 40), how))
    near(found, shift, dense.moments(np.repeat(tokens, counts, axis=0), heads))


def near(found, shift, exact):
    assert dense.relative(found.mean + shift, exact[0]) < 2e-6
    assert dense.relative(found.covariance, exact[1]) < 2e-6


def test_a_gpu_that_is_too_small_takes_the_queries_in_parts(fused_on_cpu, monkeypatch):
    """Halved until they fit, in order; a GPU that cannot take a single one says so."""
    queries, keys, values, logs = tensors(50)
    segment, taken = Segment(keys, values, logs), []
    whole = attend(queries, segment)

    def small(most):
        def cramped(queries, segment):
            if queries.shape[1] > most:
                raise torch.OutOfMemoryError("no room")
            taken.append(queries.shape[1])
            return attend_cuda(queries, segment)

        monkeypatch.setitem(kernel.FUSED, ("cpu", torch.float32), cramped)
        return attend(queries, segment)

    torch.testing.assert_close(small(10), whole, rtol=0, atol=0)
    assert sum(taken) == 37 and max(taken) <= 10
    with pytest.raises(torch.OutOfMemoryError, match="no room"):
        small(0)


def test_what_a_failed_pass_held_is_free_before_the_next(fused_on_cpu, monkeypatch):
    """Else a GPU that is full stays full."""
    queries, keys, values, _ = tensors(8)
    held = []

    def cramped(queries, segment):
        assert not any(made() is not None for made in held)
        copy = queries.clone()
        if queries.shape[1] > 10:
            held.append(weakref.ref(copy))
            raise torch.OutOfMemoryError("no room")
        return attend_cuda(copy, segment)

    monkeypatch.setitem(kernel.FUSED, ("cpu", torch.float32), cramped)
    attend(queries, Segment(keys, values))
    assert len(held) == 3  # 37, 18, 19


def test_three_quarters_of_the_free_memory_are_filled(monkeypatch):
    """In blocks of queries that are held at once, and in rows of scores at a time."""
    asked, heads = [], dense.random_heads(np.random.default_rng(2))  # 3 heads of width 4
    block = 3 * 1024 * 12  # floats: queries, their output, that to one more segment
    free = 8 * block * 4

    def mem_get_info(device):
        asked.append(device)
        return free, 10 * free

    monkeypatch.setattr(torch.cuda, "mem_get_info", mem_get_info)
    assert kernel.free_bytes(torch.device("cuda")) == 6 * block * 4
    assert blocks_at_once(Pass(heads, np.zeros(6), 1024, "cuda", "float32"), 1024) == 6
    assert blocks_at_once(Pass(heads, np.zeros(6), 1024, "cuda:1", "float64"), 1024) == 3
    assert asked == [torch.device("cuda"), torch.device("cuda"), torch.device("cuda:1")]
    on_cpu = Pass(heads, np.zeros(6), 1024, "cpu", "float32")
    assert blocks_at_once(on_cpu, 1024) == BLOCKS_AT_ONCE
    assert blocks_at_once(on_cpu, 256) == 4 * BLOCKS_AT_ONCE  # as many queries
    assert blocks_at_once(on_cpu, 10**6) == 1
    free = 1
    assert blocks_at_once(Pass(heads, np.zeros(6), 1024, "cuda", "float32"), 1024) == 1
