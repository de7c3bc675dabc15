"""Which articles give a window, and its tokens."""

from typing import Any

import numpy as np
import xarray as xr

from attnlimit.questions.keys.measure import windows_of


def choose_windows(articles: list, tokenizer: Any, section: dict, stream: np.random.Generator) -> xr.Dataset:
    """token_id (window, position): the first tokens of articles in random order, of those that are long enough."""
    wanted, length, found = section["windows"], section["window"], []
    for place in stream.permutation(len(articles)):
        article = articles[place]
        (tokens,) = windows_of(tokenizer, [article.text], length)
        if tokens is not None and article.title not in section["left_out"]:
            found.append((article, tokens))
        if len(found) == wanted:
            break
    if len(found) < wanted:
        raise ValueError(
            f"prepare_windows.windows: {wanted}, but {len(found)} articles have {length} tokens; lower it or "
            "prepare_windows.window, or take a larger corpus"
        )
    return xr.Dataset(
        {
            "token_id": (("window", "position"), np.stack([tokens for _, tokens in found]).astype(np.int32)),
            "page_id": ("window", [article.page_id for article, _ in found]),
        },
        coords={"window": range(wanted), "title": ("window", [article.title for article, _ in found])},
    )
