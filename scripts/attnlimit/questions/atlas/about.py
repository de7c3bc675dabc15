"""How many keys do the heads of several models need?"""

from pydantic import Field

from attnlimit.base.about import About, Words
from attnlimit.base.section_types import Count, Folders, OfRuns
from attnlimit.questions.atlas.columns import COLUMNS


class CompareAtlas(OfRuns):
    """Finished runs of chapter `entry`, one a model, side by side; only with chapter `atlas`."""

    models: Folders = Field(
        description="By name, the folder of a finished run with chapter `entry`; a relative one counts from the "
        "project's folder."
    )
    size: Count = Field(description="Random keys n at which the error by first order is listed for each head.")


# Words of the variables, by store.
STORES: dict[str, Words] = {
    "rates/atlas": {name: words for name, words in COLUMNS.items() if name != "model"}
    | {
        "row": "number of the head, over all models",
        "model_of_head": "model of the head",
        "model": "name of the model",
        "protocol": "which keys a query reads: uniform, sink_recent, window, top, see the columns keys_…",
        "heads": "heads of the model that were measured",
        "layers": "layers of the model that were measured",
        "median_keys": "keys that a query reads for 5 %, measured, median over heads [keys]",
        "fewest_keys": "the fewest keys that were tried: a median of so many may be smaller [keys]",
        "most_keys": "the most keys that were tried: a larger median is extrapolated, at most tenfold [keys]",
        "beyond": "share of heads whose queries must read as many keys as the context has, or more, kept ones included",
        "first_order_ratio": "n(5 %) by first order over n(5 %) measured, median over heads and protocols",
        "order": "rank correlation over heads of the quantity with H, or with depth; with H of heads at which first "
        "order may be used",
        "quantity": "what is ranked: error_horizon, the error of n random keys by first order, by H; keys_depth, "
        "random keys for 5 %, by depth",
    }
}

ABOUT = About(
    title="one row a head over all models: keys for 5 %, couplings, first order",
    question="How many keys do the heads of several models need?",
    chapter="atlas",
    exclusive=True,  # it reads finished runs
    figures={
        "atlas_depth": "atlas: keys for 5 % from the first layer to the last",
        "atlas_horizon": "atlas: error by first order against the horizon",
        "atlas_beyond": "atlas: heads that need as many keys as the context has",
    },
    tables={"atlas": "every head of every model: keys for 5 % by protocol, couplings, first order"},
    sections={"compare_atlas": CompareAtlas},
    stores=STORES,
)
