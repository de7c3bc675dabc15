"""Draw docs/workflow.svg: the rules of the workflow by chapters, from the graph that Snakemake itself plans."""

import io
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from html import escape
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from attnlimit.cli.forecast import loaded_workflow  # noqa: E402
from attnlimit.workflow.folders import ARCHIVE, RESOLVED  # noqa: E402
from attnlimit.workflow.registry import all_chapters, chapter_titles  # noqa: E402
from attnlimit.workflow.studies import COUPLINGS, ENTRY, KEYS, NEEDED, PARTS, RATES  # noqa: E402
from attnlimit.workflow.study_files import MODEL  # noqa: E402

START, END = "text and model", "what every run ends with"
TOKENS, LAST = "extract_embeddings", "all"
COLOURS = ("#e8f1fa", "#e9f5ec", "#fdf3e1", "#f6ecf7", "#e6f4f3", "#fbeaea")  # of the chapters, over again if need be
GREY = "#eef0f2"
WIDTH, ROW, SPACE, GAP, PAD, TITLE, MARGIN = 188, 22, 6, 26, 12, 26, 30
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1b1f24} .title{font-weight:600;font-size:13px} .about{fill:#57606a}"
    " .rule{fill:#fff;stroke:#57606a} path{fill:none;stroke:#6e7781}"
)


class Graph(NamedTuple):
    """Rules, and which hands files to which."""

    rules: frozenset[str]
    edges: frozenset[tuple[str, str]]


class Lane(NamedTuple):
    """A band of the picture: rules in columns, each after those it reads from."""

    name: str
    about: str
    columns: list[list[str]]
    edges: frozenset[tuple[str, str]]
    reads: bool = False  # from what comes before the chapters

    @property
    def height(self) -> int:
        return TITLE + max(map(len, self.columns)) * (ROW + SPACE) + PAD - SPACE


def main() -> None:
    (ROOT / "docs/workflow.svg").write_text(picture(), encoding="utf-8")


def rule_graph(chapter: str) -> Graph:
    """What Snakemake plans for a run of this chapter alone."""
    with tempfile.TemporaryDirectory() as folder:
        overlay = Path(folder, "one.yaml")
        overlay.write_text(yaml.safe_dump(settings_of(chapter, folder) | {"chapters": [chapter]}))
        with loaded_workflow(ROOT, Path(folder), [overlay]) as workflow, redirect_stdout(io.StringIO()):
            workflow.dag().printrulegraph()  # builds the graph of jobs, which says the same and more
            dag = workflow._workflow.dag
            edges = {(one.rule.name, job.rule.name) for job in dag.jobs for one in dag._dependencies[job]}
    rules = {rule for edge in edges for rule in edge} - {LAST}
    return Graph(frozenset(rules), frozenset(edge for edge in edges if edge[1] != LAST))


def settings_of(chapter: str, folder: str) -> dict:
    """What a run of a chapter alone needs besides the default settings."""
    if chapter in (files := {"language": "configs/smollm2.yaml", "entry": MODEL.sizes}):
        return yaml.safe_load((ROOT / files[chapter]).read_text(encoding="utf-8"))
    if chapter == "studies":
        made_up_run(folder, NEEDED, [RATES, *(f"results/{part}/layer_0.zarr.zip" for part in PARTS)])
        return {"compare_studies": {"studies": {"one": str(Path(folder, "study"))}}}
    if chapter == "atlas":
        made_up_run(folder, ENTRY, [KEYS, COUPLINGS])
        return {"compare_atlas": {"models": {"one": str(Path(folder, "study"))}}}
    return {}


def made_up_run(folder: str, chapters: Sequence[str], stores: list[str]) -> None:
    """A finished run, which has settings and files without content."""
    settings = {"chapters": list(chapters), "layers": [0]}
    for name in (RESOLVED, *stores, ARCHIVE):
        path = Path(folder, "study", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(settings) if name == RESOLVED else "")


def lanes() -> tuple[Lane, list[Lane], Lane]:
    """Rules that several chapters share at the start, those of each chapter, and those that every run ends with."""
    graphs = {chapter: rule_graph(chapter) for chapter in all_chapters()}
    end = frozenset.intersection(*(graph.rules for graph in graphs.values()))
    reading = [graph for graph in graphs.values() if TOKENS in graph.rules]
    start = frozenset.intersection(*(graph.rules for graph in reading)) - end
    edges = frozenset.union(*(graph.edges for graph in graphs.values()))
    own = [
        lane(name, chapter_titles()[name], graph.rules - start - end, graph.edges)._replace(reads=start <= graph.rules)
        for name, graph in graphs.items()
    ]
    return lane(START, "", start, edges), own, lane(END, "", end, edges)


def lane(name: str, about: str, rules: frozenset[str], edges: frozenset[tuple[str, str]]) -> Lane:
    """Rules by the length of the longest way to them; in a column, near those they read from."""
    inside = frozenset(edge for edge in edges if set(edge) <= rules)

    def depth(rule: str) -> int:
        return max((1 + depth(one) for one, other in inside if other == rule), default=0)

    depths, rows = {rule: depth(rule) for rule in sorted(rules)}, {}
    columns = []
    for place in range(max(depths.values()) + 1):
        near = {rule: [rows[one] for one, other in inside if other == rule] for rule in depths if depths[rule] == place}
        columns.append(sorted(near, key=lambda rule: (sum(near[rule]) / max(len(near[rule]), 1), rule)))
        rows |= {rule: row - len(near) / 2 for row, rule in enumerate(columns[-1])}
    return Lane(name, about, columns, inside)


def picture() -> str:
    start, own, end = lanes()
    wide = max(len(lane.columns) for lane in (start, *own, end)) * (WIDTH + GAP) - GAP + 2 * PAD
    width = wide + 2 * MARGIN
    left, right = MARGIN / 2, width - MARGIN / 2
    parts, y = [band(start, PAD, wide, GREY)], PAD + start.height + PAD
    origin, arrivals = PAD + start.height / 2, []
    for number, lane in enumerate(own):
        parts.append(band(lane, y, wide, COLOURS[number % len(COLOURS)]))
        arrivals.append((lane, y + lane.height / 2))
        y += lane.height + PAD
    parts.append(band(end, y, wide, GREY))
    target = y + end.height / 2
    for lane, middle in arrivals:
        if lane.reads:
            parts.append(f'<path d="M{MARGIN} {origin}H{left}V{middle}H{MARGIN - 1}"/>{tip(MARGIN, middle, 1)}')
        parts.append(f'<path d="M{width - MARGIN} {middle}H{right}V{target}H{width - MARGIN + 1}"/>')
    parts.append(tip(width - MARGIN, target, -1))
    height = y + end.height + PAD
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    back = f'<rect width="{width}" height="{height}" fill="#fff"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", back, *parts, "</svg>\n"])


def band(lane: Lane, top: float, width: float, colour: str) -> str:
    """A lane with its rules and their edges, but for those that a longer way implies."""
    about = f' <tspan class="about" font-weight="400">{escape(lane.about)}</tspan>' if lane.about else ""
    parts = [f'<rect x="{MARGIN}" y="{top}" width="{width}" height="{lane.height}" rx="8" fill="{colour}"/>']
    parts.append(f'<text class="title" x="{MARGIN + PAD}" y="{top + 18}">{escape(lane.name)}{about}</text>')
    rows, edges = max(map(len, lane.columns)), lane.edges - implied(lane.edges)
    column_of = {rule: column for column, rules in enumerate(lane.columns) for rule in rules}
    centred = all(column_of[other] - column_of[one] == 1 for one, other in edges)  # else long edges need free rows
    places = {
        rule: (
            MARGIN + PAD + column * (WIDTH + GAP),
            top + TITLE + (row + centred * (rows - len(rules)) / 2) * (ROW + SPACE),
        )
        for column, rules in enumerate(lane.columns)
        for row, rule in enumerate(rules)
    }
    for one, other in sorted(edges):
        (x, y), (to_x, to_y) = places[one], places[other]
        parts.append(edge(x + WIDTH, y + ROW / 2, to_x, to_y + ROW / 2))
    for rule, (x, y) in places.items():
        parts.append(f'<rect class="rule" x="{x}" y="{y}" width="{WIDTH}" height="{ROW}" rx="5"/>')
        parts.append(f'<text x="{x + WIDTH / 2}" y="{y + 15}" text-anchor="middle">{escape(rule)}</text>')
    return "\n".join(parts)


def edge(x: float, y: float, to_x: float, to_y: float) -> str:
    """Along its row as far as the last gap, then to the row of the rule that reads."""
    bend = to_x - GAP / 2
    return f'<path d="M{x} {y}H{to_x - GAP}C{bend} {y} {bend} {to_y} {to_x} {to_y}"/>{tip(to_x, to_y, 1)}'


def implied(edges: frozenset[tuple[str, str]]) -> set[tuple[str, str]]:
    """Edges between rules that a way over others joins as well: the picture shows the ways, not every file."""

    def reached(rule: str) -> set[str]:
        after = {other for one, other in edges if one == rule}
        return after.union(*map(reached, after))

    return {(one, other) for one, other in edges for first, via in edges if first == one and other in reached(via)}


def tip(x: float, y: float, direction: int) -> str:
    """The head of an arrow that arrives here, to the right (1) or to the left (-1)."""
    return f'<path d="M{x - 6 * direction} {y - 4}L{x} {y}L{x - 6 * direction} {y + 4}"/>'


if __name__ == "__main__":
    main()
