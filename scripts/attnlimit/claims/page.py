"""The claims as one page for people, without scripts or links: it is shown inside the report."""

import json
from html import escape
from pathlib import Path

from attnlimit.claims.verdicts import LOOKS, VERDICTS, Record, rounded
from attnlimit.files import atomic
from attnlimit.report.html import page, paragraph

TABLE = """<table>
<thead><tr><th>Verdict</th><th>Claim</th><th>Measured</th><th>Test and thresholds</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>"""
ROW = """<tr id="{id}">
<td style="color: {colour}; white-space: nowrap; font-weight: bold">{symbol} {verdict}</td>
<td>{claim}<div class="small">{evidence}</div></td>
<td>{why}<details class="small"><summary>numbers</summary><pre>{measured}</pre></details></td>
<td>{test}<div class="small">{threshold}</div></td>
</tr>"""


def row(record: Record) -> str:
    words = {
        "id": record.id,
        "colour": LOOKS[record.verdict].colour,
        "symbol": LOOKS[record.verdict].symbol,
        "verdict": record.verdict,
        "claim": record.claim,
        "evidence": ", ".join(record.evidence),
        "why": record.why,
        "measured": json.dumps(rounded(record.measured), indent=1, ensure_ascii=False),
        "test": record.test,
        "threshold": ", ".join(f"{name} {value:g}" for name, value in record.threshold.items()),
    }
    return ROW.format(**{name: escape(word) for name, word in words.items()})


def counted(records: list[Record]) -> str:
    """How many claims hold, do not, and were not tested."""
    verdicts = [record.verdict for record in records]
    return f"{len(records)} claims. " + "; ".join(f"{verdict}: {verdicts.count(verdict)}" for verdict in VERDICTS)


def write_page(records: list[Record], path: str | Path) -> None:
    with atomic(path) as temporary:
        parts = [paragraph(counted(records)), TABLE.format(rows="\n".join(map(row, records)))]
        temporary.write_text(page("What the paper claims, and what this run found", parts))
