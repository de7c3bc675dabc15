"""Queries, keys and values of every layer as the scores see them, by the interface that transformers has for attention.

    with probed(model, receive):
        model(input_ids)

Queries and keys come after rotation by position, keys and values once a group: the score of query i and key j is
scaling <q_i, k_j>, over all keys or, if causal, those up to i. Attention that is another formula is refused.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import torch

from attnlimit.base.plain_attention import DEAF, REMEDY, SINKS, refusal

Receive = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor, float, bool], torch.Tensor | None]
NUMBERS = count()  # of the names under which probes are registered
HALF = (torch.float16, torch.bfloat16)
# Other arguments of models that do not affect attention weights; any other one that is set is refused.
HARMLESS = {
    *("dropout", "position_ids", "cache_position", "position_embeddings", "use_cache", "past_key_values"),
    *("output_attentions", "output_hidden_states", "return_dict", "head_mask", "layer_head_mask", "deterministic"),
    *("num_items_in_batch", "logits_to_keep", "return_token_type_ids", "token_type_ids"),
}
NAMES = {
    "softcap": "caps its scores by a tanh",
    "sliding_window": "reads keys in a sliding window",
    "s_aux": SINKS,
    "position_bias": "adds position biases to its scores",
}


@contextmanager
def probed(model: Any, receive: Receive) -> Iterator[None]:
    """Within, each pass of the model calls receive(layer, queries, keys, values, scaling, causal) once a layer.

    queries (batch, head, query, width), keys and values (batch, kv_head, key, width), in float32 where the model has
    half precision. A tensor (batch, head, query, width) that it returns replaces the output of attention; with None the
    model goes on with its own. Texts come without padding. Afterwards the model has its own attention again.
    """
    who = type(model).__name__
    if not hasattr(model, "set_attn_implementation"):
        raise ImportError(f"{who}: its attention cannot be replaced; take a model of transformers 4.54 or later")
    from transformers import AttentionInterface  # here, since planning and other rooms do without it

    if why := refusal(model.config.to_dict()):
        raise ValueError(f"{who}: {why}")
    own, name = model.config._attn_implementation, f"attnlimit_probe_{next(NUMBERS)}"
    calls, places, passes = Counter[int](), dict[int, int](), list[str]()
    AttentionInterface.register(name, partial(attention, receive, calls, places, who))
    before = partial(before_pass, passes, who)
    hooks = [each.register_forward_pre_hook(before, with_kwargs=True) for each in {model, model.base_model}]
    try:
        model.set_attn_implementation(name)
        if model.config._attn_implementation != name:
            raise ValueError(f"{who}: {DEAF}; {REMEDY}")
        yield
        if passes:
            require_called(model, calls)
    finally:
        for hook in hooks:
            hook.remove()
        model.set_attn_implementation(own)
        AttentionInterface.register(name, closed)  # releases what the probe refers to


def read(model: Any, tokens: np.ndarray, receive: Receive) -> None:
    """One pass of the model's layers over a window: without the scores of next tokens, which are not needed."""
    ids = torch.as_tensor(np.asarray(tokens), dtype=torch.long, device=model.device)[None]
    if int(ids.max()) >= (words := model.get_input_embeddings().num_embeddings):
        raise ValueError(f"token {int(ids.max())}, but the model has {words} words; take the model's own tokenizer")
    inner = getattr(model, model.base_model_prefix, model)
    extra = {"use_cache": False} if getattr(model.config, "use_cache", None) is not None else {}
    with torch.no_grad(), probed(model, receive):
        inner(input_ids=ids, **extra)


def attention(
    receive: Receive,
    calls: Counter,
    places: dict[int, int],
    who: str,
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """The function that transformers calls in place of its own: queries, keys, values (batch, head, token, width)."""
    layer = getattr(module, "layer_idx", None)
    layer = places.setdefault(id(module), len(places)) if layer is None else layer
    calls[layer] += 1
    causal = getattr(module, "is_causal", None) if is_causal is None else is_causal
    require_plain(f"{who}, layer {layer}", module, attention_mask, causal, others)
    queries, keys, values = (each.float() if each.dtype in HALF else each for each in (query, key, value))
    for what, tensor in {"queries": queries, "keys": keys, "values": values}.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{who}, layer {layer}: {what} hold NaN or infinite values; check the model's weights")
    if queries.shape[1] % keys.shape[1]:
        raise ValueError(f"{who}, layer {layer}: {query.shape[1]} heads are no multiple of {key.shape[1]} KV heads")
    scaling = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    output = receive(layer, queries, keys, values, scaling, bool(causal))
    if output is None:
        output = attend(queries, keys, values, scaling, bool(causal))
    elif output.shape != (expected := (*query.shape[:3], value.shape[-1])):
        raise ValueError(f"{who}, layer {layer}: an output of shape {tuple(output.shape)} in place of {expected}")
    return output.transpose(1, 2).contiguous().to(query.dtype), None


def attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scaling: float, causal: bool
) -> torch.Tensor:
    """softmax(scaling q k^T) v, (batch, head, query, width), by torch's fused attention: no scores are kept.

    Head h reads the keys of group h // (heads / groups). If causal, the last query reads all keys, the one before
    it all but the last, and so on: earlier keys may be cached.
    """
    group, before = queries.shape[1] // keys.shape[1], keys.shape[2] - queries.shape[2]
    keys, values = (each.repeat_interleave(group, 1) for each in (keys, values))
    mask = None
    if causal and before:
        mask = torch.ones(queries.shape[2], keys.shape[2], dtype=torch.bool, device=keys.device).tril(before)
    return torch.nn.functional.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, is_causal=causal and mask is None, scale=scaling
    )


def require_plain(place: str, module: Any, mask: torch.Tensor | None, causal: bool | None, others: dict) -> None:
    """Raise if a layer hands on anything that makes its attention another formula."""
    why = next((words for name, words in NAMES.items() if others.get(name) is not None), None)
    if getattr(module, "sinks", None) is not None:
        why = why or NAMES["s_aux"]
    set_ones = [name for name, value in others.items() if value is not None and value is not False]
    unknown = [name for name in set_ones if name not in HARMLESS]
    if unknown:
        why = why or f"hands {unknown[0]} to its attention, which is not known here"
    if mask is not None:
        why = why or "masks keys in a way that is not known here"
    if causal is None:
        why = why or "does not tell whether it is causal"
    if why:
        raise ValueError(f"{place}: {why}; {REMEDY}")
    if others.get("dropout"):
        raise ValueError(f"{place}: attention with dropout; call model.eval() first")


def before_pass(passes: list[str], who: str, module: Any, args: tuple, kwargs: dict) -> None:
    """Refuses padding: for a function that transformers does not know, it drops the mask of a padded text."""
    passes.append(who)
    masks = [each for each in (kwargs.get("attention_mask"), *args[1:2]) if isinstance(each, torch.Tensor)]
    if any(each.ndim != 2 or not each.bool().all() for each in masks):
        raise ValueError(f"{who}: an attention_mask that leaves tokens out; give one text at a time, without padding")


def require_called(model: Any, calls: Counter[int]) -> None:
    """Raise unless every layer called the probe, all equally often."""
    layers, who = model.config.num_hidden_layers, type(model).__name__
    if not calls:
        raise ValueError(f"{who}: {DEAF}; {REMEDY}")
    if sorted(calls) != list(range(layers)) or len(set(calls.values())) > 1:
        counts = ", ".join(f"{calls[layer]}" for layer in range(layers))
        raise ValueError(f"{who}: its {layers} layers called the probe {counts} times; {REMEDY}")


def require_same_output(model: Any, input_ids: torch.Tensor) -> None:
    """Raise unless the probe's own attention gives what the model's does, for a text: the last word on the formula."""
    with torch.no_grad():
        expected = model(input_ids=input_ids)[0].float()
        with probed(model, lambda *_: None):
            found = model(input_ids=input_ids)[0].float()
    away = float((found - expected).square().mean().sqrt() / expected.std())
    allowed = 0.05 if model.dtype in HALF else 1e-3  # rounding of half precision, over all layers
    if not away <= allowed:
        raise ValueError(
            f"{type(model).__name__}: plain attention misses the model's own output by {away:.2g} of its spread; "
            f"{REMEDY}"
        )


def closed(*_: Any, **__: Any) -> None:
    raise RuntimeError("a probe was used after its end; call the model within `with probed(…)`")
