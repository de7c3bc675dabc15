"""The library: attention on one's own tokens, keys that a loaded model needs, stores of a run: docs/your-own.md.

Functions are loaded when they are asked for: planning imports this package without any numerical library.
"""

from typing import Any

EXPORTS = {
    "keys_needed": "attnlimit.questions.keys.call",
    "attention_moments": "attnlimit.attention.on_tokens",
    "attention_limit": "attnlimit.attention.on_tokens",
    "heads_from_arrays": "attnlimit.attention.on_tokens",
    "read": "attnlimit.base.store",
}
__all__ = [*EXPORTS]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in EXPORTS:
        raise AttributeError(f"module 'attnlimit' has no attribute {name!r}; it has {', '.join(EXPORTS)}")
    from importlib import import_module

    return getattr(import_module(EXPORTS[name]), name)


def __dir__() -> list[str]:
    return [*EXPORTS]
