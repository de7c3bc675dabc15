"""The claims at a glance: what is claimed, on what it was tested, the verdict and the one number."""

import json
from pathlib import Path
from textwrap import wrap

import matplotlib.pyplot as plt

from attnlimit.base.job import begin
from attnlimit.base.log import counted
from attnlimit.drawing.style import WIDTH, save, set_theme
from attnlimit.stats.verdicts import LOOKS

LINE, GAP = 0.15, 0.07  # inches a line and between claims
LEFT = {"headline": 0.05, "symbol": 2.3, "experiment": 2.5, "number": 4.45}  # inches
LETTERS = {"headline": 36, "experiment": 32, "number": 43}  # a line
TITLE = 0.3  # inches for the title of a quick look

p = begin(snakemake)
set_theme()

records = json.loads(Path(snakemake.input.records).read_text(encoding="utf-8"))
tested = sorted((record for record in records if record["verdict"]), key=lambda record: record["ours"])
headlines = list(dict.fromkeys(record["headline"] for record in tested))
claims = sorted(tested, key=lambda record: headlines.index(record["headline"]))
chapters = sorted({record["left_out"] for record in records} - {""})
words = [{name: wrap(claim[name], LETTERS[name]) for name in LETTERS} for claim in claims]
for number in range(1, len(claims)):  # a headline stands once
    if claims[number]["headline"] == claims[number - 1]["headline"]:
        words[number]["headline"] = []
lines = [max(map(len, each.values())) for each in words]
header = TITLE if p.quick_look else 0
height = sum(LINE * count + GAP for count in lines) + GAP + header + (LINE + GAP if chapters else 0)
figure = plt.figure(figsize=(WIDTH, height))
axis = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
axis.axis("off")

top = GAP + header
for claim, said, count in zip(claims, words, lines, strict=True):
    symbol, colour = LOOKS[claim["verdict"]]
    axis.text(LEFT["symbol"], top, symbol, color=colour, fontsize=9, weight="bold", va="top")
    for name, column in said.items():
        weight, shade = ("bold", "0") if name == "headline" else ("normal", "0.25")
        axis.text(
            LEFT[name], top, "\n".join(column), color=shade, fontsize=7.5, weight=weight, va="top", linespacing=1.25
        )
    if said["headline"]:
        axis.axhline(top - GAP / 2, color="0.85", lw=0.6)
    top += LINE * count + GAP
if chapters:
    left_out = f"left out: {counted(len(records) - len(claims), 'more claim')}, tested by chapter {', '.join(chapters)}"
    axis.text(LEFT["headline"], top, left_out, color="0.4", fontsize=7.5, va="top")
save({"claims": figure}, snakemake.output, p.quick_look)
