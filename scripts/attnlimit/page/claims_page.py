"""The claims as one page for people, without scripts or links: it is shown inside the report."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.page.html import page, paragraph, section, table
from attnlimit.stats.verdicts import LOOKS, VERDICTS, Record, rounded

TABLE = """<table>
<thead>
<tr><th>Verdict</th><th>Claim</th><th>Measured</th><th>Test and thresholds</th><th>Could it have failed?</th></tr>
</thead>
<tbody>
{rows}
</tbody>
</table>"""
ROW = """<tr id="{id}">
<td style="color: {colour}; white-space: nowrap; font-weight: bold">{symbol} {verdict}</td>
<td>{claim}<div class="small">{evidence}</div></td>
<td>{why}<details class="small"><summary>numbers</summary><pre>{measured}</pre></details></td>
<td>{test}<div class="small">{threshold}</div><div class="small">{rule}, {function}, {test_file}</div></td>
<td>{could_fail}</td>
</tr>"""


def row(record: Record) -> str:
    verdict = str(record.verdict)  # claims without one have a table of their own
    words = {
        "id": record.id,
        "colour": LOOKS[verdict].colour,
        "symbol": LOOKS[verdict].symbol,
        "verdict": verdict,
        "claim": record.claim,
        "evidence": ", ".join(record.evidence),
        "why": record.why,
        "measured": json.dumps(rounded(record.measured), indent=1, ensure_ascii=False),
        "test": record.test,
        "could_fail": record.could_fail,
        "rule": f"rule {record.rule}",
        "function": record.function,
        "test_file": record.test_file,
        "threshold": ", ".join(f"{name} {value:g}" for name, value in record.threshold.items()),
    }
    return ROW.format(**{name: escape(word) for name, word in words.items()})


def counted(records: list[Record]) -> str:
    """How many claims hold, do not, and were not tested."""
    verdicts = [record.verdict for record in records]
    return f"{len(records)} claims. " + "; ".join(f"{verdict}: {verdicts.count(verdict)}" for verdict in VERDICTS)


def without_verdict(records: list[Record], chapters: str) -> list[str]:
    """The claims that the run does not test, after the line on the chapters that it leaves out."""
    rows = [(record.claim, f"chapter {record.left_out}") for record in records]
    claims = [table(("claim", "tested by"), rows)] if rows else []
    return [section("Left out of this run", paragraph(chapters), *claims)] if chapters else []


def write_page(
    records: list[Record], path: str | Path, chapters: str = "", about: Sequence[str] = (), quick_look: bool = False
) -> None:
    """chapters: the line on the chapters that the run leaves out, if it does;  about: those on model, text, limits."""
    tested, others = ([record for record in records if bool(record.left_out) == side] for side in (False, True))
    with atomic(path) as temporary:
        parts = [paragraph(line) for line in about]
        parts += [paragraph(counted(tested)), TABLE.format(rows="\n".join(map(row, tested)))]
        parts += without_verdict(others, chapters)
        temporary.write_text(page("What the paper claims, and what this run found", parts, quick_look))
