"""The claims at a glance: verdict, claim, and what was measured beside what was asked."""

import json
from pathlib import Path
from textwrap import wrap

import matplotlib.pyplot as plt

from attnlimit.base.job import begin
from attnlimit.drawing.style import WIDTH, save, set_theme
from attnlimit.stats.verdicts import LOOKS
from attnlimit.workflow.amounts import counted

LINE, GAP, CHARACTERS, LEFT = 0.145, 0.09, 98, 1.32  # inches a line and between claims; letters a line; inches
TITLE = 0.3  # inches for the title of a quick look

p = begin(snakemake)
set_theme()

records = json.loads(Path(snakemake.input.records).read_text())
claims = [record for record in records if not record["left_out"]]
chapters = sorted({record["left_out"] for record in records} - {""})
texts = [(wrap(claim["claim"], CHARACTERS), wrap(claim["in_short"], CHARACTERS)) for claim in claims]
height = sum(LINE * (len(said) + len(measured)) + GAP for said, measured in texts) + GAP
height += LINE + GAP if chapters else 0
header = TITLE if p.quick_look else 0
height += header
figure = plt.figure(figsize=(WIDTH, height))
axis = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
axis.axis("off")

top = GAP + header
for claim, (said, measured) in zip(claims, texts, strict=True):
    symbol, colour = LOOKS[claim["verdict"]]
    bottom = top + LINE * (len(said) + len(measured))
    axis.axhspan(top - GAP / 4, bottom + GAP / 4, xmax=0.06 / WIDTH, color=colour, lw=0)
    axis.text(0.12, top, symbol, color=colour, fontsize=9, weight="bold", va="top")
    axis.text(0.3, top, "\n".join(wrap(claim["verdict"], 14)), color=colour, fontsize=7.5, weight="bold", va="top")
    for number, (line, shade) in enumerate([(line, "0") for line in said] + [(line, "0.4") for line in measured]):
        axis.text(LEFT, top + LINE * number, line, color=shade, fontsize=7.5, va="top")
    top = bottom + GAP
if chapters:
    words = f"left out: {counted(len(records) - len(claims), 'more claim')}, tested by chapter {', '.join(chapters)}"
    axis.text(LEFT, top, words, color="0.4", fontsize=7.5, va="top")
save({"claims": figure}, snakemake.output, p.quick_look)
