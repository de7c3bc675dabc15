"""The law of the next token when every layer reads some keys of the context, against that of the dense model.

Every query of every layer reads its own keys, from the first token on. Tokens of the last half of the context are
judged: those before them are the context that keys are left out of.
"""

from typing import NamedTuple

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.key_protocols import PLAIN
from attnlimit.attention.keys import Attention, Kept, attend
from attnlimit.attention.probe import probed
from attnlimit.base.parts import cuts
from attnlimit.base.seeds import generator

TOKENS_AT_ONCE = 128  # whose laws over the vocabulary are compared at a time


class Draws(NamedTuple):
    """Which keys, how many, how often, and from which seed."""

    protocols: list[str]
    sizes: list[int]
    replicates: int
    kept: Kept
    seed: int

    @classmethod
    def of(cls, section: dict, seed: int) -> "Draws":
        kept = Kept(section["first"], section["last"], 0)
        return cls(section["protocols"], section["sizes"], section["replicates"], kept, seed)


def next_logits(model, tokens: np.ndarray, receive=lambda *_: None) -> torch.Tensor:
    """Scores of the next token, for the tokens of the last half but the last: (token, word)."""
    ids = torch.as_tensor(tokens, dtype=torch.long, device=model.device)[None]
    judged = len(tokens) - len(tokens) // 2
    with torch.no_grad(), probed(model, receive):
        return model(input_ids=ids, use_cache=False, logits_to_keep=judged).logits[0, :-1].float()


def compared(logits: torch.Tensor, dense: torch.Tensor, targets: torch.Tensor) -> dict[str, float]:
    """Means over tokens: loss -log q(next), divergence KL(p || q) = sum p (log p - log q), agreement of first choices.

    logits, dense (token, word);  p is the dense law, q the other;  sums in float64.
    """
    sums = {"loss": 0.0, "divergence": 0.0, "agreement": 0.0}
    for cut in cuts(len(dense), TOKENS_AT_ONCE):
        log_q, log_p = (torch.log_softmax(each[cut], -1) for each in (logits, dense))
        sums["loss"] -= float(log_q.gather(1, targets[cut, None]).sum(dtype=torch.float64))
        sums["divergence"] += float((log_p.exp() * (log_p - log_q)).sum(dtype=torch.float64))
        sums["agreement"] += float((log_q.argmax(-1) == log_p.argmax(-1)).sum())
    return {name: total / len(dense) for name, total in sums.items()}


def measure_answers(model, tokens: np.ndarray, draws: Draws, window: int) -> xr.Dataset:
    """loss, divergence, agreement (protocol, n, replicate) of one window, and dense_loss."""
    dense = next_logits(model, tokens)
    targets = torch.as_tensor(tokens[-len(dense) :], dtype=torch.long, device=dense.device)
    shape = len(draws.protocols), len(draws.sizes), draws.replicates
    found = {name: np.zeros(shape) for name in ("loss", "divergence", "agreement")}
    for row, protocol in enumerate(draws.protocols):
        for column, n in enumerate(draws.sizes):
            for replicate in range(1 if protocol in PLAIN else draws.replicates):
                receive = reading(protocol, n, draws, (window, replicate, n))
                answers = compared(next_logits(model, tokens, receive), dense, targets)
                for name, value in answers.items():
                    found[name][row, column, slice(None) if protocol in PLAIN else replicate] = value
    return xr.Dataset(
        {name: (("protocol", "n", "replicate"), values) for name, values in found.items()}
        | {"dense_loss": ((), compared(dense, dense, targets)["loss"])},
        coords={"protocol": draws.protocols, "n": draws.sizes, "replicate": range(draws.replicates)}
        | {"window": window},
    )


def reading(protocol: str, n: int, draws: Draws, address: tuple[int, ...]):
    """What takes the place of each layer's attention."""

    def receive(layer: int, queries, keys, values, scaling: float, causal: bool) -> torch.Tensor:
        stream = generator(draws.seed, f"measure_next_token {protocol}", *address, layer)
        attention = Attention.of(queries[0], keys[0], values[0], scaling, causal)
        return attend(attention, protocol, n, draws.kept, stream)[None]

    return receive
