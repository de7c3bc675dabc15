"""Figures of question clouds."""

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from attnlimit.drawing.density import density, levels_of, window
from attnlimit.drawing.panels import subject
from attnlimit.drawing.style import PALETTE, WIDTH, Looks

SHARES = (0.9, 0.5)  # of the points that the contours hold
GREY = ("0.88", "0.72")  # of the limit, from the outer region to the inner one
COLOURS = (PALETTE[3], PALETTE[1], PALETTE[0], PALETTE[2])  # from few tokens to many


def clouds(outputs: xr.Dataset) -> Figure:
    """What convergence looks like: outputs of two heads at a few n over those of the limit, and a t-SNE map."""
    clouds = [str(cloud) for cloud in outputs["cloud"].values if cloud != "limit"]
    colours = dict(zip(clouds, COLOURS, strict=False))
    heads, columns = outputs.sizes["setting"], len(clouds) + 1
    size: Looks = {"figsize": (WIDTH, 0.7 + 1.62 * heads), "squeeze": False, "layout": "constrained"}
    figure, axes = plt.subplots(heads, columns, **size)

    def draw_plane(axis, head, cloud):
        """The cloud as lines over the limit's regions, in the plane of the limit's leading directions."""
        ranges = window(head["plane"].values)
        x, y, heights = density(head["plane"].sel(cloud="limit").values, ranges)
        axis.contourf(x, y, heights, [*levels_of(heights, SHARES), heights.max()], colors=GREY)
        x, y, heights = density(head["plane"].sel(cloud=cloud).values, ranges)
        axis.contour(x, y, heights, levels_of(heights, SHARES), colors=[colours[cloud]], linewidths=(0.9, 1.5))
        axis.set(xlim=ranges[0], ylim=ranges[1])

    def draw_map(axis, head):
        """All clouds in one t-SNE map, few tokens on top."""
        axis.scatter(*head["tsne"].sel(cloud="limit").values.T, s=9, c="0.78", lw=0)
        for cloud in clouds[::-1]:
            axis.scatter(*head["tsne"].sel(cloud=cloud).values.T, s=2, color=colours[cloud], lw=0, alpha=0.8)

    for row, number in zip(axes, range(heads), strict=True):
        head = outputs.isel(setting=number)
        for axis, cloud in zip(row, clouds, strict=False):
            draw_plane(axis, head, cloud)
        draw_map(row[-1], head)
        name = f"layer {int(head['of_layer'])}, head {int(head['of_head'])}"
        row[0].set_ylabel(f"{name}\n$H = {float(head['horizon']):.2g}$")
        for axis in row:
            axis.set(xticks=[], yticks=[], box_aspect=1)  # the window is square: both directions have one scale
            axis.spines[["top", "right"]].set_visible(True)
    for axis, title in zip(axes[0], [*(f"$n$ = {int(cloud):,}" for cloud in clouds), "t-SNE of all"], strict=True):
        axis.set_title(title)
    regions = [Patch(color=grey, label=f"limit, {100 * share:.0f} %") for grey, share in zip(GREY, SHARES, strict=True)]
    lines = [Line2D([], [], color=colours[cloud], label=f"$n$ = {int(cloud):,}") for cloud in clouds]
    handles = [*regions, *lines]
    figure.legend(handles=handles, loc="outside lower center", ncol=len(handles), fontsize=8)
    figure.suptitle(subject(outputs.attrs), fontsize=9)
    return figure
