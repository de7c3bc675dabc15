"""Two stand-ins for a GPU: one that has torch's own shapes, dtypes and devices, one that has the numbers."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

TILE = 32  # queries: torch returns the log-sum-exp of whole tiles
ALIGNED = 8  # floats: what the widths must be a multiple of, on every GPU


class WithoutDriver(TorchFunctionMode):
    """What torch does through the driver even for tensors that hold no numbers, done without it.

    Copies to and from the GPU, and views. A number that is asked for is 1, a condition true.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        own = OWN.get(getattr(func, "__name__", ""))
        return own(*args, **kwargs or {}) if own else func(*args, **kwargs or {})


def as_tensor(array, dtype=None, device="cpu"):
    return torch.empty_like(torch.tensor(array, dtype=dtype), device=device)


def to(tensor, like):
    """As another tensor, or with another dtype."""
    like = like if isinstance(like, torch.Tensor) else torch.empty(0, dtype=like, device=tensor.device)
    return torch.empty_like(tensor, dtype=like.dtype, device=like.device)


def part(tensor, index):
    """tensor[index], with one array of numbers in the index at most."""
    index = index if isinstance(index, tuple) else (index,)
    for dimension, one in enumerate(index):
        if isinstance(one, torch.Tensor):
            return tensor.index_select(dimension, one)
    view = torch.empty_strided(tensor.shape, tensor.stride(), device="meta")[index]
    return tensor.as_strided(view.shape, view.stride(), tensor.storage_offset() + view.storage_offset())


def to_numpy(tensor):
    if tensor.device.type != "cpu":
        raise TypeError(f"can't convert {tensor.device} device type tensor to numpy")
    return np.ones(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))


OWN = {
    "as_tensor": as_tensor,
    "to": to,
    "__getitem__": part,
    "__setitem__": lambda tensor, index, value: part(tensor, index).add_(value),
    "contiguous": lambda tensor: tensor.clone(memory_format=torch.contiguous_format),
    "cpu": lambda tensor: torch.empty_like(tensor, device="cpu"),
    "numpy": to_numpy,
    "__bool__": lambda tensor: True,
    "__float__": lambda tensor: 1.0,
}


@contextmanager
def shapes_only() -> Iterator[None]:
    """Tensors on `cuda` without a GPU: each operator of the installed torch checks shapes, dtypes and devices."""
    with FakeTensorMode(), WithoutDriver():
        yield


def efficient_attention(query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, *, scale):
    """torch's fused attention for CUDA: the formula in float64, in the layout that its meta kernel announces.

    As there, arguments are (batch, head, token, width), rows contiguous; the log-sum-exp has rows that belong to no
    query, up to a whole tile: they are infinite.
    """
    parts = {"query": query, "key": key, "value": value}
    for name, part in parts.items():
        assert part.dim() == 4 and part.dtype == torch.float32, name
        assert part.stride(-1) == 1 and part.shape[-1] % ALIGNED == 0, name
        assert part.shape[:2] == query.shape[:2], name
    assert key.shape == value.shape and key.shape[-1] == query.shape[-1] and key.shape[-2] > 0
    assert attn_bias is None and compute_log_sumexp and dropout_p == 0 and not is_causal
    meta = tree_map_only(torch.Tensor, lambda part: part.to("meta"), (query, key, value))
    announced = torch.ops.aten._scaled_dot_product_efficient_attention(*meta, None, True, scale=scale)
    output, total, seed, offset = (torch.empty_strided(a.shape, a.stride(), dtype=a.dtype) for a in announced)
    scores = scale * query.double() @ key.double().mT  # (batch, head, query, key)
    output.copy_(scores.softmax(-1) @ value.double())
    tokens = query.shape[2]
    assert total.shape[-1] == -(-tokens // TILE) * TILE
    total.fill_(torch.inf)[..., :tokens] = scores.logsumexp(-1)
    return output, total, seed.zero_(), offset.zero_()


@contextmanager
def emulated() -> Iterator[None]:
    """torch's fused attention for CUDA, called by its name and through its schema, on the CPU."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("_scaled_dot_product_efficient_attention", efficient_attention, "CPU")
    try:
        yield
    finally:
        library._destroy()
