"""What the queries of a text need of their context: the first order of every head, and errors of drawn keys.

A causal model reads a window once; its first tokens are then a shorter context as well. Memory grows with the window's
length, since queries are taken some at a time. Also what `keys_needed` computes: torch, numpy and xarray alone.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.key_protocols import PLAIN, SAMPLED
from attnlimit.attention.keys import (
    Attention,
    Dense,
    Kept,
    blocks,
    chosen_weights,
    drawn_weights,
    even_places,
    received_weights,
    reservoir_weights,
    stratum,
    uniforms,
    value_spread,
    weighted_output,
)
from attnlimit.attention.probe import read
from attnlimit.base.seeds import generator
from attnlimit.theory.projected import couplings

LARGEST = (16, 64, 256)  # keys whose mass is kept
QUANTILES = (0.5, 0.9)  # of the error over queries


class Reading(NamedTuple):
    """Which queries of which contexts are measured, and how keys are kept and drawn."""

    contexts: Sequence[int]  # first tokens of the window, increasing
    context: int  # the one of them at which keys are drawn
    queries: int
    kept: Kept
    protocols: Sequence[str]
    sizes: Sequence[int] = ()  # n; none: the first order alone
    replicates: int = 0
    seed: int = 0

    @classmethod
    def of(cls, section: dict, seed: int) -> "Reading":
        kept = Kept(section["first"], section["last"], section["heavy"])
        names = ("contexts", "context", "queries", "protocols", "sizes", "replicates")
        return cls(kept=kept, seed=seed, **{name: section[name] for name in names})

    @property
    def sampled(self) -> list[str]:
        return [name for name in self.protocols if name in SAMPLED]


def first_order(
    layer: Attention,
    places: np.ndarray,
    kept: Kept,
    protocols: Sequence[str],
    received: torch.Tensor | None = None,
) -> xr.Dataset:
    """c1 / S^2, c1 / |o|^2 and E u^2, means over queries (protocol, head), and of the stratum m (protocol,).

    received (head, query, key): see `received_weights`, for heavy_recent.
    """
    device, spread = layer.keys.device, value_spread(layer)
    names = ("first_order", "first_order_output", "second_moment")
    sums = {name: torch.zeros(len(protocols), len(spread), dtype=torch.float64, device=device) for name in names}
    count = torch.zeros(len(protocols), dtype=torch.float64, device=device)
    for cut, chosen in blocks(places, device):
        dense = Dense.of(layer, chosen)
        norm = dense.output.square().sum(-1)
        for row, protocol in enumerate(protocols):
            drawn_from = stratum(protocol, layer, chosen, kept, None if received is None else received[:, cut])
            c1, second_moment = dense.first_order(layer, drawn_from)
            sums["first_order"][row] += (c1 / spread[:, None] ** 2).sum(-1)
            sums["first_order_output"][row] += (c1 / norm).sum(-1)
            sums["second_moment"][row] += second_moment.sum(-1)
            count[row] += drawn_from.size.sum()
    found: dict[str, tuple] = {
        name: (("protocol", "head"), total.cpu().numpy() / len(places)) for name, total in sums.items()
    }
    found["stratum"] = ("protocol", count.cpu().numpy() / len(places))
    return xr.Dataset(found, coords={"protocol": list(protocols)})


def head_facts(layer: Attention, places: np.ndarray) -> xr.Dataset:
    """How a head spreads its weights, means over queries; its couplings over all tokens of the context.

    Effective keys 1 / sum p^2;  H = ||C_q^1/2 C_k^1/2|| / sqrt(width), s0 = |C_k^1/2 E q| / sqrt(width).
    """
    device, heads = layer.keys.device, len(layer.queries)
    names = ("first_weight", "entropy", "effective_keys")
    sums = {name: torch.zeros(heads, dtype=torch.float64, device=device) for name in names}
    mass = torch.zeros(len(LARGEST), heads, dtype=torch.float64, device=device)
    for _, chosen in blocks(places, device):
        weights = torch.softmax(layer.scores(chosen, torch.float64), -1)
        sums["first_weight"] += weights[..., 0].sum(-1)
        sums["entropy"] += torch.special.entr(weights).sum((-2, -1))
        sums["effective_keys"] += (1 / weights.square().sum(-1)).sum(-1)
        largest = weights.topk(min(LARGEST[-1], weights.shape[-1]), dim=-1).values.cumsum(-1)
        for row, number in enumerate(LARGEST):
            mass[row] += largest[..., min(number, largest.shape[-1]) - 1].sum(-1)
    found: dict[str, tuple] = {name: ("head", total.cpu().numpy() / len(places)) for name, total in sums.items()}
    found["largest_mass"] = (("largest", "head"), mass.cpu().numpy() / len(places))
    mean = layer.queries.double().mean(1).cpu().numpy()
    of_queries, of_keys = (covariance(each) for each in (layer.queries, layer.keys))  # (head, width, width)
    found |= {
        name: ("head", value)
        for name, value in couplings(mean, of_queries, of_keys.repeat(layer.group, 0), layer.scaling**-2).items()
        if name != "horizon_frobenius"
    }
    found["spread"] = ("head", value_spread(layer).cpu().numpy())
    return xr.Dataset(found, coords={"largest": list(LARGEST)})


def covariance(vectors: torch.Tensor) -> np.ndarray:
    """Over the tokens, (head, token, width) -> (head, width, width), in float64; torch keeps to its threads."""
    centred = vectors.double() - vectors.double().mean(1, keepdim=True)
    return (centred.mT @ centred / vectors.shape[1]).cpu().numpy()


def drawn_errors(
    layer: Attention,
    places: np.ndarray,
    reading: Reading,
    address: tuple[int, ...],
    received: torch.Tensor | None = None,
) -> xr.Dataset:
    """Errors |o_n - o| of each protocol, over S: root mean squares over queries (protocol, replicate, n, head).

    error_quantile: quantiles over queries and replicates;  output_error: root mean square of |o_n - o| / |o|.
    A replicate has one stream for all protocols and sizes: differences between them are less noisy than each.
    """
    protocols, sizes, kept = reading.protocols, reading.sizes, reading.kept
    device, replicates = layer.keys.device, reading.replicates
    shape = len(protocols), replicates, len(sizes), len(layer.queries), len(places)
    squares = torch.zeros(shape, dtype=torch.float64, device=device)
    norm = torch.zeros(shape[-2:], dtype=torch.float64, device=device)
    streams = [generator(reading.seed, "measure_keys", *address, replicate) for replicate in range(replicates)]
    tags = [torch.as_tensor(stream.random(layer.keys.shape[1]), device=device) for stream in streams]
    draws = [uniforms(stream, len(places), sizes[-1], device) for stream in streams]
    for cut, chosen in blocks(places, device):
        exact = Dense.of(layer, chosen).output
        norm[:, cut] = exact.square().sum(-1)
        scores = layer.scores(chosen)

        def square(weights: torch.Tensor, scores=scores, exact=exact) -> torch.Tensor:
            return (weighted_output(layer, scores, weights) - exact).square().sum(-1)  # (head, query)

        for row, protocol in enumerate(protocols):
            if protocol in PLAIN:
                for column, n in enumerate(sizes):
                    weights = chosen_weights(protocol, layer, chosen, scores, n, kept)
                    squares[row, :, column, :, cut] = square(weights)
                continue
            drawn_from = stratum(protocol, layer, chosen, kept, None if received is None else received[:, cut])
            for replicate in range(replicates):
                for column, n in enumerate(sizes):
                    weights = (
                        reservoir_weights(drawn_from, tags[replicate], n)
                        if protocol == "reservoir"
                        else drawn_weights(drawn_from, draws[replicate][cut, :n])
                    )
                    squares[row, replicate, column, :, cut] = square(weights)
    relative = (squares / value_spread(layer)[:, None] ** 2).cpu().numpy()
    to_output = (squares / norm).cpu().numpy()
    sizes_of = {
        "protocol": list(protocols),
        "replicate": range(replicates),
        "n": list(sizes),
        "quantile": list(QUANTILES),
    }
    return xr.Dataset(
        {
            "error": (("protocol", "replicate", "n", "head"), np.sqrt(relative.mean(-1))),
            "error_quantile": (
                ("quantile", "protocol", "n", "head"),
                np.quantile(np.sqrt(relative), QUANTILES, axis=(1, -1)),
            ),
            "output_error": (("protocol", "n", "head"), np.sqrt(to_output.mean((1, -1)))),
        },
        coords=sizes_of,
    )


def received_by_context(layer: Attention, places: dict[int, np.ndarray]) -> dict[int, torch.Tensor]:
    """What keys received before the queries of each context, (head, query, key), by one pass over all queries."""
    found = received_weights(layer, torch.as_tensor(np.concatenate(list(places.values())), device=layer.keys.device))
    parts = found.split([len(own) for own in places.values()], dim=1)
    return {context: part[..., :context] for context, part in zip(places, parts, strict=True)}


def measure_layer(layer: Attention, reading: Reading, address: tuple[int, ...]) -> xr.Dataset:
    """All that is kept of one layer on one window.

    The first order at each context; at the one at which keys are drawn also the heads' facts and, with sizes, errors of
    drawn keys.
    """
    places = {context: even_places(context, reading.queries) for context in reading.contexts}
    received = received_by_context(layer, places) if "heavy_recent" in reading.protocols else dict.fromkeys(places)
    found = [
        first_order(layer.first(context), own, reading.kept, reading.sampled, received[context])
        for context, own in places.items()
    ]
    measured = xr.concat(found, "context").assign_coords(context=list(reading.contexts))
    context, part = reading.context, layer.first(reading.context)
    measured = measured.merge(head_facts(part, places[context]))
    if reading.sizes:
        errors = drawn_errors(part, places[context], reading, address, received[context])
        measured = measured.reindex(protocol=list(reading.protocols)).merge(errors)
    kv_head = np.arange(len(layer.queries)) // layer.group
    return measured.assign_coords(head=np.arange(len(layer.queries)), kv_head=("head", kv_head))


def measure_window(
    model, tokens: np.ndarray, reading: Reading, layers: Sequence[int] | None = None, window: int = 0
) -> xr.Dataset:
    """Every layer, or those named, of a model that reads one window of tokens, which has a number: along `layer`."""
    found: dict[int, xr.Dataset] = {}

    def receive(number: int, queries, keys, values, scaling: float, causal: bool) -> None:
        if layers is not None and number not in layers:
            return
        try:
            layer = Attention.of(queries[0], keys[0], values[0], scaling, causal)
            found[number] = measure_layer(layer, reading, (window, number))
        except ValueError as error:
            raise ValueError(f"layer {number}: {error}") from error

    read(model, tokens, receive)
    order = sorted(found)
    together = xr.concat([found[number] for number in order], "layer", coords="minimal", compat="override")
    return together.assign_coords(layer=order, window=window)


def windows_of(tokenizer, texts: Iterable[str], window: int) -> list[np.ndarray | None]:
    """The first tokens of each text, as the tokenizer marks it; None of a text that is too short."""
    found: list[np.ndarray | None] = []
    for text in texts:
        ids = tokenizer(text, truncation=True, max_length=window)["input_ids"]
        found.append(np.asarray(ids, dtype=np.int64) if len(ids) == window else None)
    return found


def longest_window(model) -> int | None:
    """Tokens that the model reads at once, where it says so; positions of a RoBERTa begin after that of the padding."""
    most = getattr(model.config, "max_position_embeddings", None)
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return most if most is None or padding is None else most - padding - 1


def require_window(model, reading: Reading) -> None:
    """A window that the model reads, with room for what is kept."""
    longest = longest_window(model)
    window, smallest, kept = reading.contexts[-1], reading.contexts[0], sum(reading.kept)
    if longest is not None and window > longest:
        raise ValueError(
            f"window: {window} tokens, but the model reads at most {longest}; pass window={longest} or fewer"
        )
    if min(reading.kept) < 0:
        raise ValueError(f"kept: {tuple(reading.kept)}; pass counts of first, last and heaviest keys, 0 or more")
    if smallest < 2 or reading.kept.budget > smallest // 2 or kept > smallest:
        raise ValueError(f"window: {smallest} tokens, of which a protocol keeps {kept}; pass a longer window")
