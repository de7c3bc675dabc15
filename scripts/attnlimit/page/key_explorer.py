"""Explore the heads of a language model: keys for 5 % against the weight of the first key, and the errors of one head.

As page/explorer.py, whose signals and page script it shares; the signal `statistic` is the protocol here.
"""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.attention.key_protocols import RELIABLE, SAMPLED
from attnlimit.drawing.key_style import COLOURS, NAMES
from attnlimit.drawing.style import BOUND, PARAMETRIC, css, layer_colours
from attnlimit.page.answer import two_digits
from attnlimit.page.explorer import DASHED, DOTTED, IS_CHOSEN, IS_SHOWN, chart, csv, in_script, layer_scale, runtime
from attnlimit.page.single_heads import UNRELIABLE, needed
from attnlimit.stats.complexity import BEYOND
from attnlimit.stats.table import flat

EPS = 0.05
LEAST = 1e-4  # smaller errors are rounding: all keys are read
FEWEST = 1  # keys: heads that need fewer are drawn there
COLUMNS = {
    "measured": "n(5 %), measured",
    "predicted": "n(5 %), first order",
    "beta": "rate β",
    "share": "share of a cache",
}
SINGLE = {
    "first_weight": "weight of the first key",
    "effective_keys": "effective keys 1/Σp²",
    "entropy": "entropy of the weights",
    "horizon": "horizon H",
    "constant_tilt": "constant tilt s₀",
}


def key_explorer(fits: xr.Dataset) -> dict[str, Any]:
    """What the page needs: tables, charts, the runtime, each head in words, and the one shown at first."""
    at = fits.sel(eps=EPS, context=fits.attrs["context"])
    heads, curves, words = head_table(at), curve_table(at), in_words(at)
    hardest = heads[heads["statistic"] == "sink_recent"].sort_values("keys").iloc[-1]
    first = int(hardest["layer"]), int(hardest["head"])
    colours = layer_colours(at["layer"].values)
    return {
        "tables": {"heads": csv(heads), "curves": csv(curves)},
        "charts": in_script({"keys": keys_chart(heads, fits.attrs["context"]), "curve": curve_chart(curves, at)}),
        "words": in_script(words),
        "runtime": runtime(),
        "layers": at["layer"].values.tolist(),
        "heads": at["head"].values.tolist(),
        "first": first,
        "shown": words["{}-{}".format(*first)],
        "protocols": {name: NAMES[name] for name in at["protocol"].values.tolist()},
        "sampled": [name for name in SAMPLED if name in at["protocol"].values],
        "columns": COLUMNS,
        "single": SINGLE,
        "key": [(layer, css(colour)) for layer, colour in colours.items()],
    }


def head_table(at: xr.Dataset) -> pd.DataFrame:
    """One row a head and protocol with a sample: n(5 %) and the weight of the first key.

    n(5 %) is that of first order where it is reliable, else the measured one, drawn no higher than it is followed.
    """
    own = at.sel(protocol=[name for name in SAMPLED if name in at["protocol"].values])
    reliable = own["first_order_reliable"] == 1
    columns = {
        "keys": own["first_order_keys"].where(reliable, np.minimum(own["keys"], BEYOND * int(at["n"][-1]))),
        "reliable": reliable,
        "first_weight": own["first_weight"],
    }
    table = flat(xr.Dataset(columns).rename(protocol="statistic"), "layer", "head", "statistic")
    return table[["layer", "head", "statistic", *columns]]


def curve_table(at: xr.Dataset) -> pd.DataFrame:
    """One row a head, protocol and n: keys read, error relative to S, and what the first order says where it may."""
    usable = at["n"] >= RELIABLE * at["second_moment"]
    predicted = (at["first_order_keys"] * EPS**2 / at["n"]).where(usable) ** 0.5
    columns = {"budget": at["budget"], "error": at["rms"].where(at["rms"] > LEAST), "predicted": predicted}
    table = flat(xr.Dataset(columns).rename(protocol="statistic"), "layer", "head", "statistic", "n")
    return table[["layer", "head", "statistic", *columns]].dropna(subset="error").round({"error": 4, "predicted": 4})


def in_words(at: xr.Dataset) -> dict[str, dict[str, str]]:
    """What the page shows of each head, by `layer-head`; of a protocol with its name behind."""
    sizes, found = at["n"].values, dict[str, dict[str, str]]()
    for layer in at["layer"].values:
        of_layer = at.sel(layer=layer)
        for head in at["head"].values:
            own = of_layer.sel(head=head)
            words = {name: f"{float(own[name]):.2g}" for name in SINGLE}
            for place, name in enumerate(at["protocol"].values.tolist()):
                values = {key: float(own[key].values[place]) for key in ("keys", "first_order_keys")}
                all_keys = values["keys"] == float("inf") and name not in SAMPLED  # enough only where it reads them all
                words[f"measured_{name}"] = "all keys" if all_keys else needed(values["keys"], sizes)
                if name in SAMPLED:
                    reliable = float(own["first_order_reliable"].values[place]) == 1
                    share = f"{100 * float(own['cache_share'].values[place]):.0f} %"
                    words[f"predicted_{name}"] = two_digits(values["first_order_keys"]) if reliable else UNRELIABLE
                    words[f"beta_{name}"] = f"{float(own['beta'].values[place]):.2f}".replace("-", "−")
                    words[f"share_{name}"] = share if reliable else UNRELIABLE
                else:
                    words |= {f"{key}_{name}": "–" for key in ("predicted", "beta", "share")}
            found[f"{layer}-{head}"] = words
    return found


def keys_chart(heads: pd.DataFrame, context: int) -> dict:
    """n(5 %) against the weight of the first key, a point a head, for the chosen protocol; see `head_table`."""
    x = alt.X("first_weight:Q", title="weight of the first key", scale=alt.Scale(domain=[0, 1]))
    reach = alt.Scale(type="log", domain=[FEWEST, 1.5 * heads["keys"].max()], nice=False, clamp=True)
    y = alt.Y("keys:Q", title="n(5 %)", scale=reach, axis=alt.Axis(format=",~r", tickCount=6))
    fits = alt.Chart(alt.NamedData("heads")).transform_filter("datum.statistic == statistic")
    colours = layer_scale(heads)
    fill = alt.condition("datum.reliable", alt.Fill("layer:O", scale=colours, legend=None), alt.value("white"))
    tips = [alt.Tooltip("layer:O"), alt.Tooltip("head:O"), alt.Tooltip("keys:Q", title="n(5 %)", format=",.0f")]
    points = fits.mark_point(filled=True, size=45, strokeWidth=1.2, cursor="pointer").encode(
        x=x,
        y=y,
        stroke=alt.Stroke("layer:O", scale=colours, legend=None),
        fill=fill,
        opacity=alt.condition(IS_SHOWN, alt.value(0.9), alt.value(0.12)),
        tooltip=tips,
    )
    ring = fits.transform_filter(IS_CHOSEN).mark_point(size=420, color="black", strokeWidth=2).encode(x=x, y=y)
    line = alt.Chart(pd.DataFrame({"keys": [context]})).mark_rule(color=css(PARAMETRIC), strokeDash=DOTTED)
    return chart([line.encode(y=y), points, ring], 380)


def curve_chart(curves: pd.DataFrame, at: xr.Dataset) -> dict:
    """Errors of the chosen head against the keys that a query reads, by protocol, and the chosen one's first order."""
    names = at["protocol"].values.tolist()
    reach = [float(curves["budget"].min()) / 1.2, float(curves["budget"].max()) * 1.2]
    ticks = alt.Axis(values=[10**power for power in range(8) if reach[0] <= 10**power <= reach[1]], format=",d")
    x = alt.X("budget:Q", title="keys that a query reads", scale=alt.Scale(type="log", domain=reach), axis=ticks)
    scale = alt.Scale(type="log", domain=[0.003, 1.2 * curves["error"].max()], nice=False, clamp=True)
    axis: dict[str, Any] = {"scale": scale, "title": "relative error", "axis": alt.Axis(format="~g", tickCount=5)}
    label = "".join(f"datum.value == '{name}' ? '{NAMES[name]}' : " for name in names) + "''"
    colour = alt.Color(
        "statistic:N",
        title=None,
        scale=alt.Scale(domain=names, range=[css(COLOURS[name]) for name in names]),
        legend=alt.Legend(orient="bottom", columns=2, labelExpr=label, labelLimit=0, symbolOpacity=1),
    )
    chosen = alt.Chart(alt.NamedData("curves")).transform_filter(IS_CHOSEN)
    theory = chosen.transform_filter("datum.statistic == statistic && isNumber(datum.predicted)")
    five = alt.Chart(pd.DataFrame({"error": [EPS]})).mark_rule(color=css(PARAMETRIC), strokeDash=DOTTED)
    marks = [
        five.encode(y=alt.Y("error:Q", **axis)),
        chosen.mark_line(strokeWidth=1).encode(x=x, y=alt.Y("error:Q", **axis), color=colour),
        chosen.mark_point(filled=True, size=26, opacity=1).encode(x=x, y=alt.Y("error:Q", **axis), color=colour),
        theory.mark_line(strokeWidth=1.4, strokeDash=DASHED, color=css(BOUND)).encode(
            x=x, y=alt.Y("predicted:Q", **axis)
        ),
    ]
    return chart(marks, 300)
