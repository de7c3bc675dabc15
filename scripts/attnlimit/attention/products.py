"""Matrix products, by the fastest library that torch has for them."""

import torch
from torch import Tensor

SMALL = 2**20  # multiplications: below, oneDNN takes longer to be called than to compute
ONEDNN = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None


def product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """left @ right, and a bias added to every row:  (row, inner), (inner, column), (column,) -> (row, column).

    torch's own product asks MKL, which on processors of other makers than Intel leaves AVX-512 unused. oneDNN, which is
    in torch as well, uses it, and is more than twice as fast there. It has float32 only, and wants arrays without gaps:
    others it takes a thousand times as long for.
    """
    if ONEDNN is None or left.device.type != "cpu" or left.dtype != torch.float32 or work(left, right) < SMALL:
        return left @ right if bias is None else torch.addmm(bias, left, right)
    right = right if right.is_contiguous() or right.T.is_contiguous() else right.contiguous()
    return ONEDNN(left.contiguous(), right.T, bias, "none", [], "")


def work(left: Tensor, right: Tensor) -> int:
    return left.numel() * right.shape[1]
