"""Products by oneDNN and by torch's own are those of float64, whatever the layout."""

import numpy as np
import pytest
import torch

from attnlimit.attention import products
from attnlimit.attention.products import product


def tensor(*shape):
    return torch.as_tensor(np.random.default_rng(shape).normal(size=shape), dtype=torch.float32)


LAYOUTS = {
    "rows": lambda: (tensor(40, 33), tensor(33, 50)),
    "columns": lambda: (tensor(40, 33), tensor(50, 33).T),
    "transposed left": lambda: (tensor(33, 40).T, tensor(33, 50)),
    "part of rows": lambda: (tensor(40, 60)[:, 5:38], tensor(33, 90)[:, 7:57]),
    "part of columns": lambda: (tensor(40, 33), tensor(50, 60)[:, 5:38].T),
    "one": lambda: (tensor(1, 1), tensor(1, 1)),
}


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("library", ["oneDNN", "torch"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_product_is_that_of_float64(monkeypatch, layout, library, biased):
    monkeypatch.setattr(products, "SMALL", 0)
    if library == "torch":
        monkeypatch.setattr(products, "ONEDNN", None)
    elif products.ONEDNN is None:
        pytest.skip("this torch has no oneDNN")
    left, right = LAYOUTS[layout]()
    bias = tensor(right.shape[1]) if biased else None
    exact = left.double() @ right.double() + (0 if bias is None else bias.double())
    torch.testing.assert_close(product(left, right, bias).double(), exact, rtol=1e-6, atol=1e-5)
    wide = product(left.double(), right.double(), None if bias is None else bias.double())
    torch.testing.assert_close(wide, exact, rtol=1e-14, atol=1e-14)
