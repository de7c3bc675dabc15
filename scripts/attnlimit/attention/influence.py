"""The influence of one token on the mean and the covariance of all outputs: first order, and the second order.

With w(x, z) = N exp(<q(x), k(z)> - L(x)), L the log-sum-exp of the limit pass over N tokens, E over the population,
m and C the limit's mean and covariance, g = Gamma - m, v the values less m:  phi(x, z) = w(x, z)(v(z) - g(x)) is the
influence of a token z on the output at x.  On the mean and the covariance of the outputs:

psi(z)  = g(z) + E_x phi(x, z)                                    = g + a v - b
psiC(z) = g g^T - C + E_x[phi(x, z) g(x)^T + g(x) phi(x, z)^T]    = g g^T - C + v b^T + b v^T - 2 S
a(z) = E_x w(x, z),  b(z) = E_x w(x, z) g(x),  S(z) = E_x w(x, z) g(x) g(x)^T.

E|mean_n - m|^2 = E|psi|^2 / n + …,  E||C_n - C||^2 = E||psiC||^2 / n + (||B||^2 + V2) / n^2 + …  The sums over queries
are attention the other way round: keys ask, the scores of query x get -L(x), by one more coordinate, its value is g(x).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from attnlimit.attention.kernel import Segment, attend


class Asked(NamedTuple):
    """Queries of the limit pass, and what came of them."""

    queries: Tensor  # (head, query, width)
    outputs: Tensor  # (head, query, width): g
    totals: Tensor  # (head, query): L
    weights: Tensor  # (query,): tokens that each stands for; N together

    def take(self, rows: slice | Tensor) -> "Asked":
        return Asked(self.queries[:, rows], self.outputs[:, rows], self.totals[:, rows], self.weights[rows])

    def bias(self, power: int = 1) -> Tensor:
        """What is added to the scores of a query: log of its tokens less power L, (head, query)."""
        return self.weights.log().to(self.totals) - power * self.totals


def received(keys: Tensor, asked: Asked, power: int = 1) -> tuple[Tensor, Tensor]:
    """a = sum_x c_x exp(power (<q, k> - L)), (head, key), and b, the same times g, (head, key, width), in float64.

    c_x are the tokens that a query stands for; with power 1, a = E_x w and b = E_x w g.
    """
    ones, zeros = keys.new_ones(*keys.shape[:2], 1), asked.outputs.new_zeros(*asked.outputs.shape[:2], 1)
    asking = torch.cat([power * asked.queries, asked.bias(power)[..., None]], -1)
    state = attend(torch.cat([keys, ones], -1), Segment(asking, torch.cat([asked.outputs, zeros], -1)))
    total = state.total.double().exp()
    return total, total[..., None] * state.output[..., :-1].double()


def received_products(keys: Tensor, asked: Asked) -> Tensor:
    """S = E_x w g g^T as `products` has it, (head, key, entry), in float64."""
    bias = asked.bias()
    each = [
        (key @ query.T + own).exp_() @ squares(output).T  # (key, entry)
        for key, query, own, output in zip(keys, asked.queries, bias, asked.outputs, strict=True)
    ]
    return torch.stack(each).double()


def products(left: Tensor, right: Tensor) -> Tensor:
    """(l r^T + r l^T) / 2 of vectors (…, width) as a vector (…, entry) of the same length as the matrix (Frobenius)."""
    rows, columns, scale = upper_triangle(left)
    return (left[..., rows] * right[..., columns] + left[..., columns] * right[..., rows]) * scale


def squares(vectors: Tensor) -> Tensor:
    """products(v, v) of vectors (row, width), to the bit, as columns (entry, row): a third of the time."""
    rows, columns, scale = upper_triangle(vectors)
    return vectors.T[rows] * vectors.T[columns] * (2 * scale)[:, None]


def upper_triangle(like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Row, column and half the weight of each entry of a symmetric matrix of vectors' width."""
    rows, columns = torch.triu_indices(like.shape[-1], like.shape[-1], device=like.device)
    return rows, columns, 0.5 + (0.5**0.5 - 0.5) * (rows != columns).to(like)


def entries(matrix: Tensor) -> Tensor:
    """Symmetric matrices (…, width, width) in the layout of `products`."""
    rows, columns = torch.triu_indices(matrix.shape[-1], matrix.shape[-1], device=matrix.device)
    return matrix[..., rows, columns] * (1 + (2**0.5 - 1) * (rows != columns).to(matrix))


def second_kernel(queries: Tensor, keys: Tensor, values: Tensor, noise: Tensor) -> Tensor:
    """The second-order kernel of the covariance on signed measures, (draw, width, width), tokens being all there is.

    One head: queries, keys, values (token, width);  noise (token, draw): independent standard normals xi.
    With nu = N^-1/2 sum_j (xi_j - mean xi) delta_j, u = int w dnu, d = int phi dnu:
    k = E_x d d^T + K + K^T - psi psi^T,  K = int d g^T dnu - E_x u d g^T,  psi = int g dnu + E_x d.
    The expectation of k is B, its variance V2.
    """
    count = len(keys)
    weights = torch.softmax(queries @ keys.T, -1) * count  # (x, z): w
    outputs = weights @ values / count
    centred = outputs - outputs.mean(0)  # g
    measure = (noise - noise.mean(0)) / count**0.5  # (z, draw): nu
    mass = weights @ measure  # (x, draw): u
    moved = torch.einsum("zt,zw->ztw", measure, values).flatten(1)  # (z, draw * width)
    shift = (weights @ moved).unflatten(1, (-1, values.shape[1])) - mass[..., None] * outputs[:, None]  # d
    psi = measure.T @ centred + shift.mean(0)  # (draw, width)
    local = torch.einsum("xt,xtw,xz->twz", measure - mass / count, shift, centred)  # K
    spread = torch.einsum("xtw,xtz->twz", shift, shift) / count
    return spread + local + local.mT - psi[:, :, None] * psi[:, None]
