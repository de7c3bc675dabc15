"""Explore the heads: charts that a browser draws from tables in the page, without a network.

Altair writes the charts, vl-convert turns them into Vega, whose runtime goes into the page with them. Signals of each
chart, which the page sets: `statistic` (mean or cov), `layer` and `head` (the chosen one), `shown` (a layer to
highlight, or -1 for all). The tables are those of page/single_heads.py, under the names heads, curves and tails.
"""

import json
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import vl_convert

from attnlimit.drawing.panels import hollow_words
from attnlimit.drawing.style import BOUND, COLOURS, HEURISTIC, NAMES, PARAMETRIC, css, layer_colours
from attnlimit.stats.complexity import BEYOND
from attnlimit.theory.bounds import predictions

TOKENS = "tokens_5"  # the column that sizes the points
AREAS = 14, 260  # of the smallest and the largest point, square pixels
DIGITS = 5  # significant ones in the page's tables
SIGNALS = {"statistic": "mean", "layer": 0, "head": 0, "shown": -1}
IS_CHOSEN = "datum.layer == layer && datum.head == head"
IS_SHOWN = "shown < 0 || datum.layer == shown"
RUNTIME = "window.vegaEmbed = vegaEmbed;"  # what the page needs of it
FONT = "system-ui, sans-serif"  # of the page
DASHED, DOTTED = [5, 3], [2, 2]
ROWS = {  # what the page shows of mean and covariance; of the head itself; of its tails
    "beta": "rate β, 95 % interval",
    "marks": "over these n",
    "error": "error at the largest n, of its scale",
    "tokens_10": "n(10 %)",
    "tokens_5": "n(5 %)",
    "tokens_1": "n(1 %)",
}
PREDICTED = {  # the same, where the run has first order
    "predicted_error": "error at the largest n, by first order",
    "predicted_tokens_5": "n(5 %), predicted by first order",
}
USABLE = {"usable_from": "first order reliable from n"}
SINGLE = {"horizon": "horizon H", "bound_v3": "lower bound 1/(2(1+H²))", "constant_tilt": "constant tilt s₀"}
OF_TAILS = {
    "kurtosis": "excess kurtosis along its first direction",
    "sub_gaussian": "largest R(s): variance proxy over Σ",
}


def explorer(
    heads: pd.DataFrame, curves: pd.DataFrame, tails: pd.DataFrame | None, words: dict, first: tuple[int, int]
) -> dict[str, Any]:
    """What the page needs: tables, charts, the runtime, each head in words, and the one shown at first.

    tails: None if the run has none.
    """
    tables, charts = {"heads": heads, "curves": curves}, {"horizon": horizon_chart(heads, curves["n"].unique())}
    charts["curve"] = curve_chart(curves)
    if tails is not None:
        tables["tails"], charts["tail"] = tails, tail_chart(tails)
    return {
        "tables": {name: csv(table) for name, table in tables.items()},
        "charts": in_script(charts),
        "words": in_script(words),
        "runtime": runtime(),
        "layers": heads["layer"].unique().tolist(),
        "heads": heads["head"].unique().tolist(),
        "first": first,
        "shown": words["{}-{}".format(*first)],
        "rows": ROWS | (PREDICTED if "usable_from" in heads else {}),
        "single": SINGLE | (USABLE if "usable_from" in heads else {}) | (OF_TAILS if tails is not None else {}),
        "hollow": hollow_words(),
        "key": key_of(heads, curves["n"].unique()),
    }


def in_script(content: Any) -> str:
    """JSON in which no browser sees the end of a script."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")


def csv(table: pd.DataFrame) -> str:
    """As a browser and a spreadsheet read it: few digits, true and false, Infinity."""
    lines = [",".join(table.columns), *(",".join(map(cell, row)) for row in table.itertuples(index=False))]
    return "\n".join(lines) + "\n"


def cell(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.{DIGITS}g}".replace("inf", "Infinity")
    return str(value)


def horizon_chart(heads: pd.DataFrame, sizes: np.ndarray) -> dict:
    """Rate against horizon: colour by layer, size by n(5 %), hollow where beta is no exponent."""
    low, high, top = heads["horizon"].min() / 1.3, heads["horizon"].max() * 1.3, 1.05 * heads["beta_high"].max()
    x = alt.X("horizon:Q", title="horizon H", scale=alt.Scale(type="log", domain=[low, high], nice=False))
    scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("beta:Q", title="rate β", scale=scale)
    colours = layer_scale(heads)
    least, most = reach_of(sizes)
    area = alt.Scale(type="log", domain=[least, most], range=list(AREAS), clamp=True)
    size = alt.Size("drawn:Q", scale=area, legend=None)
    fits = (
        alt.Chart(alt.NamedData("heads"))
        .transform_filter("datum.statistic == statistic")
        .transform_calculate(drawn=f"isFinite(datum.{TOKENS}) ? datum.{TOKENS} : {most}")
    )
    shade = alt.condition(IS_SHOWN, alt.value(0.9), alt.value(0.12))
    own = alt.Color("layer:O", scale=colours, legend=None)
    face = alt.condition("datum.hollow", alt.value("white"), alt.Fill("layer:O", scale=colours, legend=None))
    tips = [alt.Tooltip("layer:O"), alt.Tooltip("head:O")]
    tips += [alt.Tooltip("horizon:Q", title="H", format=".2f"), alt.Tooltip("beta:Q", title="β", format=".2f")]
    bars = fits.mark_rule(strokeWidth=0.8).encode(
        x=x, y=alt.Y("beta_low:Q", title="rate β", scale=scale), y2="beta_high:Q", color=own, opacity=shade
    )
    points = fits.mark_point(filled=True, strokeWidth=1.3, cursor="pointer").encode(
        x=x,
        y=y,
        stroke=alt.Stroke("layer:O", scale=colours, legend=None),
        fill=face,
        size=size,
        opacity=shade,
        tooltip=tips,
    )
    ring = fits.transform_filter(IS_CHOSEN).mark_point(size=560, color="black", strokeWidth=2)
    return chart([*prior(low, high, x, scale), bars, points, ring.encode(x=x, y=y)], 380)


def layer_scale(heads: pd.DataFrame) -> alt.Scale:
    layers = heads["layer"].unique()
    return alt.Scale(domain=layers.tolist(), range=[css(colour) for colour in layer_colours(layers).values()])


def reach_of(sizes: np.ndarray) -> tuple[int, int]:
    """Fewest and most tokens that n(eps) tells apart."""
    return int(sizes[0]), BEYOND * int(sizes[-1])


def key_of(heads: pd.DataFrame, sizes: np.ndarray) -> dict[str, list]:
    """What colours and sizes of points mean: layers with their colours, tokens with the radius of a point in pixels."""
    layers = heads["layer"].unique()
    least, most = reach_of(sizes)
    tokens = [least, int(sizes[-1]), most]
    share = np.log(np.array(tokens) / least) / np.log(most / least)
    radii = np.sqrt((AREAS[0] + share * (AREAS[1] - AREAS[0])) / np.pi)
    words = [f"{least:,} or fewer", f"{sizes[-1]:,}", f"more than {most:,}"]
    return {
        "layers": [(layer, css(colour)) for layer, colour in layer_colours(layers).items()],
        "sizes": list(zip(words, radii.round(1).tolist(), strict=True)),
    }


def prior(low: float, high: float, x: alt.X, scale: alt.Scale) -> list[alt.Chart]:
    """The curves that figures draw too: the bound of v3, our heuristic, 1/2."""
    grid = np.geomspace(low, high, 60)
    curves = predictions(grid, grid**2)
    lines = []
    for name, colour, dash in (("bound_v3", BOUND, [1, 0]), ("heuristic", HEURISTIC, DASHED)):
        data = pd.DataFrame({"horizon": grid.round(5), "beta": curves[name].round(5)})
        line = alt.Chart(data).mark_line(color=css(colour), strokeDash=dash, strokeWidth=1.2)
        lines.append(line.encode(x=x, y=alt.Y("beta:Q", title="rate β", scale=scale)))
    half = alt.Chart(pd.DataFrame({"beta": [0.5]})).mark_rule(color=css(PARAMETRIC), strokeDash=DOTTED)
    return [*lines, half.encode(y=alt.Y("beta:Q", title="rate β", scale=scale))]


def curve_chart(curves: pd.DataFrame) -> dict:
    """Errors of the chosen head against n with their intervals, the fits, and the slopes in the interval of beta.

    Where the run has first order, what it predicts, as a solid line.
    """
    reach = [float(curves["n"].min()) / 1.2, float(curves["n"].max()) * 1.2]
    ticks = alt.Axis(values=[4**power for power in range(20) if reach[0] <= 4**power <= reach[1]], format=",d")
    x = alt.X("n:Q", title="tokens n", scale=alt.Scale(type="log", domain=reach, nice=False), axis=ticks)
    range_ = [0.7 * curves["error"].min(), 1.3 * curves["error_high"].max()]
    scale = alt.Scale(type="log", domain=range_, nice=False, clamp=True)  # one for all heads, so that they compare
    axis: dict[str, Any] = {
        "scale": scale,
        "title": "distance to the limit, relative",
        "axis": alt.Axis(format="~g", tickCount=5),
    }
    names = alt.Scale(domain=list(NAMES), range=[css(COLOURS[name]) for name in NAMES])
    label = "".join(f"datum.value == '{name}' ? '{word}' : " for name, word in NAMES.items()) + "''"
    colour = alt.Color(
        "statistic:N", title=None, scale=names, legend=alt.Legend(orient="top", labelExpr=label, symbolOpacity=1)
    )
    chosen = alt.Chart(alt.NamedData("curves")).transform_filter(IS_CHOSEN)
    marks = [
        chosen.mark_area(opacity=0.18).encode(x=x, y=alt.Y("fit_low:Q", **axis), y2="fit_high:Q", color=colour),
        chosen.mark_line(strokeWidth=1.2, strokeDash=DASHED).encode(x=x, y=alt.Y("fit:Q", **axis), color=colour),
        chosen.mark_rule(strokeWidth=1).encode(x=x, y=alt.Y("error_low:Q", **axis), y2="error_high:Q", color=colour),
        chosen.mark_point(filled=True, size=30, opacity=1).encode(x=x, y=alt.Y("error:Q", **axis), color=colour),
    ]
    if "predicted" in curves:
        marks.append(
            chosen.transform_filter("isNumber(datum.predicted)")
            .mark_line(strokeWidth=1.2)
            .encode(x=x, y=alt.Y("predicted:Q", **axis), color=alt.value("black"), detail="statistic:N")
        )
    return chart(marks, 230)


def tail_chart(tails: pd.DataFrame) -> dict:
    """R(s) of the chosen head along its first direction, with points where enough tokens carry it; 1 is a Gaussian."""
    reach = [min(0.0, tails["log_mgf_ratio"].min()), 1.05 * tails["log_mgf_ratio"].max()]
    x = alt.X("scale:Q", title="scale s")
    y = alt.Y("log_mgf_ratio:Q", title="R(s)", scale=alt.Scale(domain=reach, nice=False))
    one = alt.Chart(pd.DataFrame({"log_mgf_ratio": [1.0]})).mark_rule(color=css(PARAMETRIC), strokeDash=DASHED)
    chosen = alt.Chart(alt.NamedData("tails")).transform_filter(IS_CHOSEN)
    line = chosen.mark_line(color=css(BOUND), strokeWidth=1, strokeDash=DOTTED).encode(x=x, y=y)
    carried = chosen.transform_filter("datum.carried")
    points = carried.mark_point(color=css(BOUND), filled=True, size=30, opacity=1).encode(x=x, y=y)
    return chart([one.encode(y=y), line, points], 170)


def chart(layers: list[Any], height: int) -> dict:
    """As wide as its place in the page, in the form that the runtime takes."""
    params = [alt.param(name=name, value=value) for name, value in SIGNALS.items()]
    axes = alt.AxisConfig(grid=False, labelFontSize=12, titleFontSize=13, titleFontWeight="normal")
    legend = alt.LegendConfig(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", orient="bottom")
    whole = alt.layer(*layers).properties(width="container", height=height).add_params(*params)
    # A screen reader passes over the marks: boxes and numbers of the page say the same.
    look: dict[str, Any] = {"aria": False, "font": FONT, "background": "white", "view": alt.ViewConfig(stroke=None)}
    return vl_convert.vegalite_to_vega(whole.configure(axis=axes, legend=legend, **look).to_dict())


def runtime() -> str:
    """Vega itself as one script that needs no network."""
    return vl_convert.javascript_bundle(RUNTIME).replace("</script", "<\\/script")
