"""What jobs that read windows of text share: the model, the windows of text that a job reads, and a pass over them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from transformers import PreTrainedModel

from attnlimit.attention.kernel import choose_device
from attnlimit.base.log import bar
from attnlimit.base.parts import share
from attnlimit.base.store import identity, read
from attnlimit.sampling.joining import join_parts
from attnlimit.sources.model.decoder import load_either
from attnlimit.sources.model.files import require_as_fetched


def open_windows(given: Any, device: str, part: int, parts: int) -> tuple[PreTrainedModel, xr.Dataset, dict]:
    """The model on its device, the windows of job `part` of `parts`, and what stores say of both.

    given: input of a rule with windows, heads, config and weights; a model that is not the one of the heads is refused.
    """
    windows, heads = read(given.windows), read(given.heads)
    files = given.config, given.weights
    require_as_fetched(files, heads.attrs["model"]["sha256"], windows.attrs["tokenizer_sha256"])
    model = load_either(Path(given.weights).parent)
    facts = identity(windows, heads) | {"windows": windows.sizes["window"], "population": windows.attrs["population"]}
    mine = windows.sel(window=share(windows["window"].values.tolist(), part, parts))
    return model.to(choose_device(device)), mine, facts | {"dtype": "float32"}


def over_windows(
    measure: Callable[[np.ndarray, int], xr.Dataset], windows: xr.Dataset, length: int, name: str
) -> xr.Dataset:
    """What measure(tokens, number) finds in the first tokens of each window, along `window`, with its title."""
    passes = bar(windows["window"].values.tolist(), windows.sizes["window"], unit="windows", name=name)
    found = [measure(windows["token_id"].sel(window=number).values[:length], number) for number in passes]
    return join_parts(found, "window").assign_coords(title=windows["title"])
