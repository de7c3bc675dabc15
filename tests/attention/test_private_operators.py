"""Operators of torch that no release promises, each as it is called here; and the public path beside each."""

import ast
import re
from pathlib import Path

import pytest
import torch

from attnlimit.attention import kernel, products
from attnlimit.attention.kernel import Segment, attend, attend_plain

LIBRARY = Path(kernel.__file__).parents[1]
PRIVATE = {
    "mkldnn::_linear_pointwise": (
        "(Tensor X, Tensor W, Tensor? B, str attr, Scalar?[] scalars, str? algorithm) -> Tensor Y",
        "attention/products.py falls back to torch.addmm without it",
    ),
    "aten::_scaled_dot_product_efficient_attention": (
        "(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0., "
        "bool is_causal=False, *, float? scale=None) -> (Tensor output, Tensor log_sumexp, Tensor philox_seed, "
        "Tensor philox_offset)",
        "without it, take attend_cuda out of FUSED in attention/kernel.py: attend_plain is used then",
    ),
}


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_operator_is_as_it_is_called(name):
    if name.startswith("mkldnn") and not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    signature, remedy = PRIVATE[name]
    space, operator = name.split("::")
    found = getattr(getattr(torch.ops, space), operator, None)
    now = str(found.default._schema) if found else "gone"
    assert now == name + signature, f"torch {torch.__version__} changed {name}; {remedy}"


def test_no_other_private_name_is_used():
    """Of torch's operators and modules, and of zarr's."""
    operators, modules = set(), set()
    for path in LIBRARY.rglob("*.py"):
        text = path.read_text()
        operators |= {f"{space}::{name}" for space, name in re.findall(r"torch\.ops\.(\w+)(?:\.|, \")(_\w+)", text)}
        for node in ast.walk(ast.parse(text)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules |= {name for name in names if re.match(r"zarr\.core|(torch|zarr)\b.*\._", name)}
    assert operators == set(PRIVATE) and modules == set()


def test_the_public_paths_give_the_same_attention(monkeypatch):
    stream = torch.Generator().manual_seed(0)
    queries, keys, values = (torch.randn(2, 1100, 32, generator=stream) for _ in range(3))
    segment = Segment(keys, values)
    exact = attend_plain(queries.double(), Segment(keys.double(), values.double()))
    own = attend(queries, segment)
    monkeypatch.setattr(products, "ONEDNN", None)
    for public in (attend(queries, segment), attend_plain(queries, segment), own):
        torch.testing.assert_close(public.output.double(), exact.output, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(public.total.double(), exact.total, rtol=1e-6, atol=1e-5)
