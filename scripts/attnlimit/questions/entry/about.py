"""The atlas entry of one model: how many keys does each head need, and what are its couplings?"""

from collections.abc import Mapping
from typing import Any

from attnlimit.base.about import About, Cost, Known, Model, Words
from attnlimit.base.costs import DRAWN_FLOPS, START_BYTES
from attnlimit.base.section_types import refuse
from attnlimit.base.words import LABELS, POOLED

CHAPTER = "entry"
SHOWN = ("window", "top")  # protocols that the atlas lists besides those that question keys requires


def check(config: Mapping[str, Any], known: Known) -> None:
    """One context, which is the window: the first tokens of an encoder's text have read the others."""
    if CHAPTER not in config["chapters"]:
        return
    window, section = config["prepare_windows"]["window"], config["measure_keys"]
    if section["contexts"] != [window]:
        refuse("measure_keys.contexts", f"{section['contexts']}; take [{window}], prepare_windows.window, alone")
    for name in SHOWN:
        if name not in section["protocols"]:
            refuse("measure_keys.protocols", f"no {name}, which the atlas lists; add it")


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """One pass of the model over each window."""
    windows, length = (config["prepare_windows"][key] for key in ("windows", "window"))
    seconds = windows * length * model.layers * (24.0 * model.features**2 + 8.0 * length * model.features) / DRAWN_FLOPS
    held = 12.0 * model.layers * model.features**2 * 4 + 40.0 * length * model.features
    return {"measure_couplings": Cost(seconds=seconds, bytes=START_BYTES + held, on_gpu=True)}


# Words of the variables, by store.
STORES: dict[str, Words] = {"atlas/couplings": LABELS | POOLED}

ABOUT = About(
    title="keys and couplings of one model's heads, for the atlas",
    question="The atlas entry of one model: how many keys does each head need, and what are its couplings?",
    chapter=CHAPTER,
    exclusive=True,
    causal=None,
    uses=("keys/windows", "keys/errors", "rates/keys"),
    stores=STORES,
    cost=cost,
    check=check,
)
