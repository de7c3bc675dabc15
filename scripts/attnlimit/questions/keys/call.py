"""`from attnlimit import keys_needed`: one call that tells how many keys the heads of a loaded model need.

numpy, torch, xarray and the user's own transformers; no file is read or written.
"""

from collections.abc import Sequence, Sized
from typing import Any

import xarray as xr

from attnlimit.attention.key_protocols import SAMPLED
from attnlimit.attention.keys import Kept
from attnlimit.questions.keys.first_order import FACTS, keys_by_first_order
from attnlimit.questions.keys.measure import Reading, longest_window, measure_window, require_window, windows_of
from attnlimit.sampling.joining import join_parts

QUERIES = 64  # of a window, evenly spaced in its last half
SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # n, with measure=True
REPLICATES = 4
WINDOW = 1024  # tokens, unless the model reads fewer


def keys_needed(
    model: Any,
    tokenizer: Any,
    texts: Sequence[str],
    error: float = 0.05,
    window: int | None = None,
    measure: bool = False,
    kept: tuple[int, int, int] = (1, 64, 4),
    seed: int = 0,
) -> xr.Dataset:
    """Keys n(eps) that a query of each head must draw from its context for an error of eps times the values' spread.

    model: a loaded transformers model, encoder or decoder;  texts: each gives one window, its first tokens: as many as
    `window` says, else 1,024 or as many as the model reads;  error: eps;  kept: how many first, last and heaviest keys
    the protocols keep;  measure: also simulate errors, with draws of seed.

    By layer, head and protocol: keys, by exact first order over these windows; reliable: whether that may be used;
    share: of the keys not kept, that a cache without replacement needs. By layer and head: first_weight, entropy,
    effective_keys, horizon, constant_tilt, …; with measure=True also rms (…, n), relative to the spread.
    The model has its own attention again afterwards. docs/language.md has an example.
    """
    require_kinds(model, tokenizer, texts)
    if not error > 0:
        raise ValueError(f"error: {error}; pass a share of the values' spread, such as 0.05")
    sizes, replicates = (SIZES, REPLICATES) if measure else ((), 0)
    window = window or min(WINDOW, longest_window(model) or WINDOW)
    reading = Reading([window], window, QUERIES, Kept(*kept), SAMPLED, sizes, replicates, seed)
    require_window(model, reading)
    read = windows_of(tokenizer, texts, window)
    windows = [tokens for tokens in read if tokens is not None]
    if len(windows) < len(read):
        place = [tokens is None for tokens in read].index(True)
        raise ValueError(f"texts[{place}]: fewer than {window} tokens; pass a longer text, or window=")
    passes = (measure_window(model, tokens, reading, window=number) for number, tokens in enumerate(windows))
    measured = join_parts(list(passes), "window")
    found = keys_by_first_order(measured, error).merge(measured[list(FACTS)].mean("window"))
    if measure:
        found["rms"] = ((measured["error"] ** 2).mean(("window", "replicate"))) ** 0.5
    found = found.squeeze("context", drop=True).transpose("layer", "head", "protocol", ...)
    return found.assign_attrs(error=error, window=window, windows=len(texts), kept=list(kept), seed=seed)


def require_kinds(model: Any, tokenizer: Any, texts: Any) -> None:
    """Raise for what is easily taken for a loaded model, its tokenizer or a list of texts."""
    if not hasattr(model, "config"):
        remedy = "pass a loaded one, such as transformers.AutoModel.from_pretrained(...)"
        raise TypeError(f"model: a {type(model).__name__}, no model of transformers; {remedy}")
    if not callable(tokenizer):  # a tokenizers.Tokenizer is not
        remedy = "transformers.AutoTokenizer.from_pretrained(...) or PreTrainedTokenizerFast(tokenizer_object=...)"
        raise TypeError(f"tokenizer: a {type(tokenizer).__name__}, no tokenizer of transformers; pass {remedy}")
    listed = isinstance(texts, Sized) and not isinstance(texts, str) and len(texts) > 0
    if not listed or not all(isinstance(text, str) for text in texts):
        raise ValueError("texts: pass a list of strings, one window each")
