"""How does the next-token prediction change when every layer reads only some keys of the context?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from attnlimit.attention.key_protocols import STATELESS
from attnlimit.base.about import About, Cost, Known, Model, Words
from attnlimit.base.costs import DRAWN_FLOPS, START_BYTES
from attnlimit.base.section_types import DISTINCT, Count, InParts, Sizes, refuse
from attnlimit.base.words import WINDOWS

CHAPTER = "language"
SAMPLE, RIVALS = "sink_recent", ("window", "sink_window")  # a sample beside kept keys, and windows of as many keys


class MeasureNextToken(InParts):
    """Every layer reads some keys; context and kept keys are those of `measure_keys`."""

    protocols: Annotated[list[Literal[STATELESS]], Field(min_length=2), DISTINCT] = Field(  # type: ignore[valid-type]
        description="As in `measure_keys`, of those that carry nothing from query to query; sink_recent is compared "
        "with window and sink_window."
    )
    sizes: Sizes = Field(description="The numbers n of keys drawn in each layer, increasing.")
    replicates: Count = Field(description="Independent draws for each window; a protocol without a sample has one.")


def check(config: Mapping[str, Any], known: Known) -> None:
    """Budgets that leave a window something to forget; asked only where the chapter runs."""
    if CHAPTER not in config["chapters"]:
        return
    section, keys = config["measure_next_token"], config["measure_keys"]
    for name in (SAMPLE, *RIVALS):
        if name not in section["protocols"]:
            refuse(
                "measure_next_token.protocols", f"no {name}: {SAMPLE} is compared with {' and '.join(RIVALS)}; add it"
            )
    budget = section["sizes"][-1] + keys["first"] + keys["last"]
    if budget > keys["context"] // 2:
        why = f"with the kept keys {budget} are more than half of the context {keys['context']}; lower it"
        refuse("measure_next_token.sizes", why)
    if section["parts"] > (windows := config["prepare_windows"]["windows"]):
        refuse("measure_next_token.parts", f"more jobs than prepare_windows.windows {windows}; lower it")


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Of each window one dense pass, and one for each protocol, size and replicate."""
    section, windows = config["measure_next_token"], config["prepare_windows"]["windows"]
    layers, features, heads = model
    length, words = config["measure_keys"]["context"], 50_000
    passes = 1 + len(section["protocols"]) * len(section["sizes"]) * section["replicates"]
    flops = length * layers * (24.0 * features**2 + 12.0 * length * features) + length * features * words
    return {
        "measure_next_token": Cost(
            section["parts"],
            windows * passes * flops / DRAWN_FLOPS,
            bytes=START_BYTES + 4.0 * (12 * layers * features**2 + 2 * features * words + 2.5 * length * words),
            on_gpu=True,
            cut_by="measure_next_token.parts",
        ),
        "merge_parts": Cost(),
    }


# Words of the variables, by store.
READ: Words = WINDOWS | {
    "protocol": "which keys are kept for certain, the others sampled, in every layer",
    "n": "number of drawn keys [keys]",
    "replicate": "number of the replicate",
}
ANSWERS: Words = READ | {
    "loss": "mean over tokens of minus the log probability of the next token",
    "divergence": "mean over tokens of the Kullback-Leibler divergence of the next token's law from the dense model's",
    "agreement": "share of tokens whose most probable next token is that of the dense model",
    "dense_loss": "mean over tokens of minus the log probability of the next token, dense model",
}
STORES: dict[str, Words] = {
    "next_token/answers": ANSWERS,
    "rates/next_token": READ
    | {
        "budget": "keys that a query reads, kept ones included [keys]",
        "perplexity": "perplexity: exponential of the mean loss over windows",
        "dense_perplexity": "perplexity of the dense model",
        "divergence": "Kullback-Leibler divergence of the next token's law from the dense model's, mean over windows",
        "agreement": "share of tokens whose most probable next token is that of the dense model, mean over windows",
        "rival": "protocol that reads as many keys as the sample and draws none",
        "divergence_ratio": "divergence with sampled keys (sink_recent) over that of the rival",
    },
}
PARTS: dict[str, Words] = {"next_token/parts/part_{part}": ANSWERS}

ABOUT = About(
    title="the next token with some keys",
    question="How does the next-token prediction change when every layer reads only some keys of the context?",
    chapter=CHAPTER,
    place=1,
    exclusive=True,
    causal=True,
    figures={"next_token": "language: the next token when every layer reads some keys"},
    sections={"measure_next_token": MeasureNextToken},
    cost=cost,
    check=check,
    stores=STORES,
    parts=PARTS,
)
